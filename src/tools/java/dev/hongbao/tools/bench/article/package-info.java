/**
 * The five articles' strategies for giving shares away, written anew with their traps, to be measured and to be caught. Each works on
 * a real Redis through a blocking client, some on Postgres through JDBC; a client belongs to one thread. Each strategy owns the keys
 * and the table that bear its number and leaves nothing of Hongbao's own touched.
 */
@NullMarked
package dev.hongbao.tools.bench.article;

import org.jspecify.annotations.NullMarked;
