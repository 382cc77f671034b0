/**
 * What every face says and hears: strict JSON in, JSON and problem documents out, one table of problem types. Pure values
 * and functions, safe on any thread; knows no HTTP request and no socket.
 */
@NullMarked
package dev.hongbao.wire;

import org.jspecify.annotations.NullMarked;
