/**
 * The formats of HTTP and WebSockets: {@code openapi.yaml} as this server obeys it, bodies, problem documents, the text of
 * events, and one table of problem types. Pure values and functions, thread-safe; knows no HTTP request and no socket.
 */
@NullMarked
package dev.hongbao.web.api;

import org.jspecify.annotations.NullMarked;
