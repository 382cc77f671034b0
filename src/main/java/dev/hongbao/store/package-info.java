/**
 * The two stores of a server: Redis decides who was first, Postgres holds what is settled.
 *
 * <p>{@code Stores} opens both: configured ones by their URLs, or the embedded ones. {@code store.redis} and {@code store.postgres} hold
 * the mechanics of connections, {@code store.embedded} the child processes.
 *
 * <p>The server and the command line call it. It writes no key and no row.
 *
 * <p>Begin with {@code Stores}.
 */
@NullMarked
package dev.hongbao.store;

import org.jspecify.annotations.NullMarked;
