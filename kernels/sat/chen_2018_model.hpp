// The latency model of P. Chen et al.: Efficient Algorithms for the Summed Area Tables Primitive on
// GPUs, CLUSTER 2018, section V-B: how many clocks a warp takes for a register matrix of 32 x 32
// elements. From these clocks we derive the time of a whole picture as the paper's section IV
// describes the kernels. A multiprocessor has room for one block. Each warp of a block has one
// register matrix at a time, which it reads from global memory and processes between the block's
// barriers, so that these latencies add up.
#pragma once

#include "kernels/sat/model.hpp"

namespace facesat::gpu {

enum class RowScan { kogge_stone, ladner_fischer };

// Equation 3: 32 stores to shared memory and 32 loads.
double chen_transpose_clocks(const MicroFigures& figures);
// Equation 4: for each row five shuffles and additions; Ladner and Fischer's scan has a bitwise AND
// with each of them, which the paper counts but leaves out of the equation.
double chen_scan_rows_clocks(RowScan scan, const MicroFigures& figures);
// Equation 5: 31 additions, of all columns at once.
double chen_scan_columns_clocks(const MicroFigures& figures);

// Clocks of both kernels together, of BRLT-ScanRow, ScanRow-BRLT and ScanRowColumn.
double chen_brlt_scan_row_clocks(const SatTypeInfo& type, Size size, const MicroFigures& figures);
double chen_scan_row_brlt_clocks(RowScan scan, const SatTypeInfo& type, Size size,
                                 const MicroFigures& figures);
double chen_scan_row_column_clocks(RowScan scan, const SatTypeInfo& type, Size size,
                                   const MicroFigures& figures);

// The models of the algorithms: these clocks plus the prediction of the "bytes" model.
double latency_us(double clocks, const SatAlgorithm& sat, const SatTypeInfo& type, Size size,
                  int tables, const MicroFigures& figures);
inline constexpr SatModel chen_brlt_scan_row_model{
    "latency", [](const SatAlgorithm& sat, const SatTypeInfo& type, Size size, int tables,
                  const MicroFigures& figures) {
      return latency_us(chen_brlt_scan_row_clocks(type, size, figures), sat, type, size, tables,
                        figures);
    }};
template <RowScan scan>
constexpr SatModel chen_scan_row_brlt_model{
    "latency", [](const SatAlgorithm& sat, const SatTypeInfo& type, Size size, int tables,
                  const MicroFigures& figures) {
      return latency_us(chen_scan_row_brlt_clocks(scan, type, size, figures), sat, type, size,
                        tables, figures);
    }};
template <RowScan scan>
constexpr SatModel chen_scan_row_column_model{
    "latency", [](const SatAlgorithm& sat, const SatTypeInfo& type, Size size, int tables,
                  const MicroFigures& figures) {
      return latency_us(chen_scan_row_column_clocks(scan, type, size, figures), sat, type, size,
                        tables, figures);
    }};

}  // namespace facesat::gpu
