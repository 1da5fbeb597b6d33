// Filters of whole pictures on the CPU, equal in every bit to their definitions
// (filters/definition.hpp, rounding.hpp), except that real numbers are summed in another order.
//
// All of them: the result has the picture's size, at least one pixel, and does not overlap it.
// Nothing past the ends of rows is read or written. Radii are 0 to greatest_filter_radius, and may
// exceed the picture. Rows, and in convolutions parts of long ones, are divided among the threads
// of the caller's oneTBB arena; a filter may be called by several threads at once. Throws
// MemoryError.
#pragma once

#include <cstdint>

#include "core/image.hpp"
#include "filters/border.hpp"
#include "filters/cpu/integral.hpp"
#include "filters/mask.hpp"

namespace facesat::cpu {

// ---- convolutions, as facesat::convolve() defines them
//
// For pictures and results of std::uint8_t and std::uint8_t, std::uint8_t and std::int32_t,
// std::int32_t and std::int32_t (W: std::int32_t), float and float (W: float). Sums of integers
// wrap at 32 bits. Real numbers are summed as float.

// Every weight of the mask for every pixel.
template <class In, class Out, class W>
void convolve_direct(View<const In> picture, const Mask<W>& mask, Border border, View<Out> result);

// Columns first, then rows, with the factors of a separable mask.
template <class In, class Out, class W>
void convolve_separable(View<const In> picture, const Mask<W>& mask, Border border,
                        View<Out> result);

// gradient_pixel() of Sobel's derivatives along x and y. The radius is from 1 to
// greatest_sobel_radius; throws ArgumentError for others.
void sobel_gradient(View<const std::uint8_t> picture, int radius, Border border,
                    View<std::uint8_t> result);

// ---- statistics of the window around each pixel (see window_at), from integral images
//
// In constant time per pixel for every radius and border (filters/interval.hpp). `tables` have
// been built with this radius, with squares for variance and deviation, and with cubes for
// skewness. Source: F. C. Crow, "Summed-area tables for texture mapping", SIGGRAPH 1984; for
// squares, P. Viola, M. Jones, IJCV 2004.

// The mean, as rounded_pixel().
void box_mean(const IntegralImages& tables, Radius radius, Border border,
              View<std::uint8_t> result);
// threshold_pixel(). `picture` is the one of the tables.
void adaptive_threshold(const IntegralImages& tables, View<const std::uint8_t> picture,
                        Radius radius, Border border, int offset, View<std::uint8_t> result);
// deviation_pixel().
void deviation(const IntegralImages& tables, Radius radius, Border border,
               View<std::uint8_t> result);
// variance_of(), rounded to float.
void variance(const IntegralImages& tables, Radius radius, Border border, View<float> result);
// skewness_of(), rounded to float; skewness_pixel().
void skewness(const IntegralImages& tables, Radius radius, Border border, View<float> result);
void skewness(const IntegralImages& tables, Radius radius, Border border,
              View<std::uint8_t> result);

// A Gaussian, approximated by a box mean of a box mean of a box mean, of the radii of
// three_boxes(sigma); each mean is rounded to 8 bits. `tables` is working memory.
// Throws ArgumentError unless 0 < sigma <= 1000.
void three_box_means(View<const std::uint8_t> picture, double sigma, Border border,
                     View<std::uint8_t> result, IntegralImages& tables);

// ---- the same statistics with no table

// Adds up columns of windows, then rows of the sums.
void separable_box_mean(View<const std::uint8_t> picture, Radius radius, Border border,
                        View<std::uint8_t> result);

// Read every pixel of every window.
void direct_box_mean(View<const std::uint8_t> picture, Radius radius, Border border,
                     View<std::uint8_t> result);
void direct_adaptive_threshold(View<const std::uint8_t> picture, Radius radius, Border border,
                               int offset, View<std::uint8_t> result);
void direct_deviation(View<const std::uint8_t> picture, Radius radius, Border border,
                      View<std::uint8_t> result);
void direct_variance(View<const std::uint8_t> picture, Radius radius, Border border,
                     View<float> result);
void direct_skewness(View<const std::uint8_t> picture, Radius radius, Border border,
                     View<float> result);
void direct_skewness(View<const std::uint8_t> picture, Radius radius, Border border,
                     View<std::uint8_t> result);

}  // namespace facesat::cpu
