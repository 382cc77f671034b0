/**
 * The server's start and stop, and its checks. Begin with {@link dev.hongbao.server.HongbaoServer}, which starts in this order and stops in reverse:
 *
 * <ul>
 *   <li>{@link dev.hongbao.server.Stores}: embedded Redis and Postgres;
 *   <li>{@link dev.hongbao.server.StoreConnections}: connections, migrations, shards;
 *   <li>{@link dev.hongbao.server.Engine}: what the event loops share, the writer, timers; and, for each event loop, {@link
 *       dev.hongbao.server.Services};
 *   <li>{@link dev.hongbao.server.Apis}: routes, sockets, the management port.
 * </ul>
 *
 * Only this package constructs services, routes and tasks. A constructor takes what its class uses.
 */
@NullMarked
package dev.hongbao.server;

import org.jspecify.annotations.NullMarked;
