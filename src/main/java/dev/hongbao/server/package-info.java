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
 * <p>Only this room constructs services, routes and tasks. A constructor takes what its class uses. Begin with {@code HongbaoServer}.
 */
@NullMarked
package dev.hongbao.server;

import org.jspecify.annotations.NullMarked;
