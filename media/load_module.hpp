// Modules: shared libraries next to the program, which hold what depends on large libraries, and
// are loaded when they are first needed.
#pragma once

namespace facesat {

// Loads the module and returns the address of its table of functions. It is never unloaded, because
// objects that it created may live to the end of the program. Throws InputError if it is missing,
// or if there is too little memory for it.
const void* load_module(const char* file, const char* table);

}  // namespace facesat
