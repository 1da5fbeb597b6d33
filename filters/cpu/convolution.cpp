#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "filters/cpu/convolution.cpp"
#include <variant>

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "filters/cpu/filter.hpp"
#include "filters/cpu/rows-inl.hpp"
#include "filters/rounding.hpp"

#ifndef FACESAT_CPU_FILTER_CONVOLUTION
#define FACESAT_CPU_FILTER_CONVOLUTION
namespace facesat::cpu {

template <class In, class Out, class W>
struct Convolution {
  View<const In> picture;  // padded, if the convolution is direct
  const Mask<W>* mask;
  Border border;
  View<Out> result;
  bool is_direct;
};
using AnyConvolution = std::variant<Convolution<std::uint8_t, std::uint8_t, std::int32_t>,
                                    Convolution<std::uint8_t, std::int32_t, std::int32_t>,
                                    Convolution<std::int32_t, std::int32_t, std::int32_t>,
                                    Convolution<float, float, float>>;

struct Gradient {
  View<const std::uint8_t> picture;
  const Mask<std::int32_t>*along_x, *along_y;
  Border border;
  View<std::uint8_t> result;
};

}  // namespace facesat::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace facesat::cpu::HWY_NAMESPACE {
namespace {

template <class Out, class Sum, class W>
void finish_row(const Sum* sums, W divisor, int width, Out* HWY_RESTRICT out) {
  if constexpr (std::is_floating_point_v<Out>) {
    for (int x = 0; x < width; ++x) out[x] = sums[x] / divisor;
  } else if constexpr (sizeof(Out) == 1) {
    const RoundedQuotient pixel(divisor);
    for (int x = 0; x < width; ++x) out[x] = pixel(static_cast<std::int32_t>(sums[x]));
  } else {
    for (int x = 0; x < width; ++x) out[x] = static_cast<Out>(sums[x]);
  }
}

template <class In, class Out, class W>
void convolve_part(const Convolution<In, Out, W>& of, Rect part) {
  using Sum = std::conditional_t<std::is_floating_point_v<In>, float, std::uint32_t>;
  const Mask<W>& mask = *of.mask;
  const View<const In> columns = of.picture.sub({part.x, 0, part.width, of.picture.size.height});
  FilterRow<In, Sum> memory;
  std::vector<Sum> sums(static_cast<std::size_t>(part.width));
  for (int y = part.y; y < part.y + part.height; ++y) {
    if (of.is_direct)
      direct_row(
          columns, mask.radius, [&](std::size_t i) { return mask.weights[i]; }, of.border, y,
          memory.columns, sums.data());
    else
      separable_row(of.picture, mask.row, mask.column, of.border, y, part.x, part.x + part.width,
                    memory, sums.data());
    finish_row(sums.data(), mask.divisor, part.width, of.result.row(y) + part.x);
  }
}

void ConvolvePart(const AnyConvolution& any, Rect part) {
  std::visit([&](const auto& of) { convolve_part(of, part); }, any);
}

void GradientRows(const Gradient& of, int first, int last) {
  const int width = of.picture.size.width;
  FilterRow<std::uint8_t, std::uint32_t> memory;
  std::vector<std::uint32_t> dx(static_cast<std::size_t>(width)), dy(dx.size());
  for (int y = first; y < last; ++y) {
    for (const auto& [mask, sums] : {std::pair(of.along_x, dx.data()), {of.along_y, dy.data()}})
      separable_row(of.picture, mask->row, mask->column, of.border, y, 0, width, memory, sums);
    std::uint8_t* HWY_RESTRICT const out = of.result.row(y);
    for (int x = 0; x < width; ++x)
      out[x] = gradient_pixel(static_cast<std::int32_t>(dx[static_cast<std::size_t>(x)]),
                              static_cast<std::int32_t>(dy[static_cast<std::size_t>(x)]),
                              of.along_x->radius.x);
  }
}

}  // namespace
}  // namespace facesat::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace facesat::cpu {

HWY_EXPORT(ConvolvePart);
HWY_EXPORT(GradientRows);

template <class In, class Out, class W>
void convolve_direct(View<const In> picture, const Mask<W>& mask, Border border, View<Out> result) {
  const PaddedPicture<In> padded(picture, mask.radius.x, border, [](In pixel) { return pixel; });
  const AnyConvolution all = Convolution<In, Out, W>{padded.view(), &mask, border, result, true};
  for_each_part(picture.size, [&](Rect part) { HWY_DYNAMIC_DISPATCH(ConvolvePart)(all, part); });
}

template <class In, class Out, class W>
void convolve_separable(View<const In> picture, const Mask<W>& mask, Border border,
                        View<Out> result) {
  const AnyConvolution all = Convolution<In, Out, W>{picture, &mask, border, result, false};
  for_each_part(picture.size, [&](Rect part) { HWY_DYNAMIC_DISPATCH(ConvolvePart)(all, part); });
}

void sobel_gradient(View<const std::uint8_t> picture, int radius, Border border,
                    View<std::uint8_t> result) {
  const Mask<std::int32_t> along_x = sobel_mask<std::int32_t>(radius, true),
                           along_y = sobel_mask<std::int32_t>(radius, false);
  const Gradient gradient{picture, &along_x, &along_y, border, result};
  for_each_band(picture.size.height, [&](int first, int last) {
    HWY_DYNAMIC_DISPATCH(GradientRows)(gradient, first, last);
  });
}

#define FACESAT_CONVOLUTIONS(In, Out, W)                                            \
  template void convolve_direct(View<const In>, const Mask<W>&, Border, View<Out>); \
  template void convolve_separable(View<const In>, const Mask<W>&, Border, View<Out>)
FACESAT_CONVOLUTIONS(std::uint8_t, std::uint8_t, std::int32_t);
FACESAT_CONVOLUTIONS(std::uint8_t, std::int32_t, std::int32_t);
FACESAT_CONVOLUTIONS(std::int32_t, std::int32_t, std::int32_t);
FACESAT_CONVOLUTIONS(float, float, float);
#undef FACESAT_CONVOLUTIONS

}  // namespace facesat::cpu
#endif
