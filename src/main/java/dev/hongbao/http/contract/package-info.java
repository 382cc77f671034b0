/**
 * {@code openapi.yaml} as this server obeys it: which calls there are, and whether a request fits one. Immutable values,
 * safe on any thread; knows nothing of sockets or services.
 */
@NullMarked
package dev.hongbao.http.contract;

import org.jspecify.annotations.NullMarked;
