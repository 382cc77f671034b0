/**
 * Reading the books: transfers, statements, totals and what is open, for finance, support and auditors. Each answer is of one snapshot of the
 * database, and bounded. Changes nothing; thread-safe.
 */
@NullMarked
package dev.hongbao.domain.books;

import org.jspecify.annotations.NullMarked;
