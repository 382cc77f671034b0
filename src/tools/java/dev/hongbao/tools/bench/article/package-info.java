/**
 * The designs of the five articles, with their traps. Each runs on a real Redis through a blocking client, some on Postgres through
 * JDBC. A design owns the keys and tables with its number.
 */
@NullMarked
package dev.hongbao.tools.bench.article;

import org.jspecify.annotations.NullMarked;
