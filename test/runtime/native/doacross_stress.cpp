// Rows that follow each other on several threads, again and again: each finds what the row before has left, columns in their order.
// Ends with status 0 when all results are right; a sanitizer or valgrind watches.
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dlc_runtime.h"

#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

constexpr int64_t kRows = 37;
constexpr int64_t kColumns = 23;

struct Table {
  std::vector<int64_t> cells = std::vector<int64_t>(kRows * kColumns);
  int64_t &at(int64_t row, int64_t column) { return cells[static_cast<size_t>(row * kColumns + column)]; }
};

// Rows of odd numbers have the first columns only: the row behind needs what the row before these has.
int64_t columnsOf(int64_t row) { return row % 2 ? kColumns / 3 : kColumns; }

int64_t sumAt(Table &table, int64_t row, int64_t column) {
  int64_t sum = row + column + 1;
  for (int64_t before = row < 3 ? 0 : row - 3; before < row; ++before)
    sum += table.at(before, column) % 1000;
  return column ? sum + table.at(row, column - 1) : sum;
}

void rows(void *context, int64_t lo, int64_t hi) {
  auto *table = static_cast<Table *>(context);
  for (int64_t row = lo; row < hi; ++row)
    for (int64_t column = 0; column < columnsOf(row); ++column) {
      dlc_await_column(column);
      table->at(row, column) = sumAt(*table, row, column);
      dlc_finish_column(column);
    }
}

void nested(void *context, int64_t lo, int64_t hi) {
  for (int64_t i = lo; i < hi; ++i)
    dlc_doacross(rows, static_cast<Table *>(context) + i, kRows);
}

// Each column of two rows has a whole table of its own.
struct Outer {
  std::vector<Table> tables = std::vector<Table>(4);
};

void rowsOfTables(void *context, int64_t lo, int64_t hi) {
  auto *outer = static_cast<Outer *>(context);
  for (int64_t row = lo; row < hi; ++row)
    for (int64_t column = 0; column < 2; ++column) {
      dlc_await_column(column);
      dlc_doacross(rows, &outer->tables[static_cast<size_t>(2 * row + column)], kRows);
      dlc_finish_column(column);
    }
}

void require(const Table &table, const Table &wanted) {
  if (table.cells == wanted.cells)
    return;
  std::fprintf(stderr, "wrong: a row did not wait for the one before\n");
  std::_Exit(1);
}

void call(int rounds, int threads, const Table &wanted) {
  dlc_set_num_threads(threads);
  for (int round = 0; round < rounds; ++round) {
    Table table;
    dlc_doacross(rows, &table, kRows);
    require(table, wanted);
    std::vector<Table> several(3);
    dlc_parallel_for(nested, several.data(), 3);
    for (const Table &one : several)
      require(one, wanted);
    Outer outer;
    dlc_doacross(rowsOfTables, &outer, 2);
    for (const Table &one : outer.tables)
      require(one, wanted);
  }
  dlc_doacross(rows, nullptr, 0);
}

} // namespace

int main(int argc, char **argv) {
  int rounds = argc > 1 ? std::atoi(argv[1]) : 50;
  Table wanted;
  dlc_set_num_threads(1);
  dlc_doacross(rows, &wanted, kRows);
  std::vector<std::thread> callers;
  for (int threads : {2, 3, 8})
    callers.emplace_back([&, threads] { call(rounds, threads, wanted); });
  for (std::thread &caller : callers)
    caller.join();
}
