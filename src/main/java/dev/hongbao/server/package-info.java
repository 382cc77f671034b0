/**
 * A server's start and stop. {@code HongbaoServer} starts in this order and stops in reverse:
 *
 * <ul>
 *   <li>the checks of the machine, the stores ({@code store}), and the checks of the stores;
 *   <li>{@code StoreConnections}: connections, migrations, shards;
 *   <li>{@code Engine}: what the event loops share, the writer, timers; and, for each event loop, {@code Services};
 *   <li>{@code Apis}: routes, sockets, the management port.
 * </ul>
 *
 * <p>A subject makes itself: its door ({@code Packets}, {@code Draws}, {@code Campaigns}, {@code Feeds}, {@code Outbox}) makes its
 * services, mode and routes. {@code Access} and {@code Wallets} make the other routes. This room puts the doors together.
 *
 * <p>Public are {@code HongbaoServer}, and {@code Operations} for commands beside a server; {@code Engine} and {@code Services} for
 * benchmarks and tests that need a server without its APIs. Begin with {@code HongbaoServer}.
 */
@NullMarked
package dev.hongbao.server;

import org.jspecify.annotations.NullMarked;
