// facesat info and facesat cascades: what this program is, and which cascades it can load.
#pragma once

#include <string>

namespace facesat::app {

// Version, build, backends, devices, SAT algorithms and cascades, as text or JSON.
std::string info_text();
std::string info_json();

// A table of all cascades, and the details of one, whose warnings go to standard error. Throws
// CascadeError.
std::string cascade_list();
std::string cascade_details(const std::string& name);

}  // namespace facesat::app
