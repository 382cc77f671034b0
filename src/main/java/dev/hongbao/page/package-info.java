/**
 * The parts of page, console and operator's port beside the subjects' calls.
 *
 * <p>The demo login and wheel of a default start, refused behind a proxy. The console's overview. The operator's port: liveness, readiness,
 * metrics and the console, on its own event loop, never on the public port.
 *
 * <p>The pages themselves are files of {@code src/main/resources/webroot}: {@code app} is the chat page, {@code console} the console.
 *
 * <p>Public: {@code ManagementVerticle}, which the server deploys, and {@code DemoLogin}; each hands out its routes. The room decides nothing
 * about money.
 *
 * <p>Begin with {@code ManagementVerticle}, then {@code ConsoleRoutes} and {@code DemoLogin}.
 */
@NullMarked
package dev.hongbao.page;

import org.jspecify.annotations.NullMarked;
