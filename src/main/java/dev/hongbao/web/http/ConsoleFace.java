package dev.hongbao.web.http;

import dev.hongbao.web.api.Contract;
import dev.hongbao.web.api.Problem;
import dev.hongbao.web.api.ProblemType;
import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServerRequest;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * The API's calls on the management port, and the console's own: all for role service only, with the same limits, without
 * WebSockets. Confined to its event loop; its server manages the connections.
 */
public final class ConsoleFace implements Handler<HttpServerRequest> {
    private final Vertx vertx;
    private final HttpSettings settings;
    private final HttpFace face;
    private final CallsUnderWay ongoing;
    private final HttpVerticle.Opened opened;

    private ConsoleFace(
            Vertx vertx,
            HttpSettings settings,
            HttpVerticle.Shared shared,
            HttpVerticle.Opened opened,
            ConsoleRoutes routes) {
        this.vertx = vertx;
        this.settings = settings;
        this.opened = opened;
        this.ongoing = new CallsUnderWay();
        Connections untracked = new Connections(settings, shared.connectionCap(), Runnable::run, System::nanoTime);
        this.face = new HttpFace(vertx, settings, shared, untracked, opened, ongoing, routes.byOperation());
    }

    /** Whether this face answers the request. */
    public static boolean answers(HttpServerRequest request) {
        String path = request.path();
        return path != null && (path.startsWith("/v1/") || path.startsWith("/manage/"));
    }

    /**
     * Opens it on the current event loop. @param api shared with the API's port
     *
     * @param opening the services of one event loop
     */
    public static Future<ConsoleFace> open(
            Vertx vertx,
            HttpSettings settings,
            HttpVerticle.Shared api,
            Supplier<Future<HttpVerticle.Opened>> opening,
            ConsoleServices services,
            MeterRegistry metrics) {
        return vertx.executeBlocking(Contract::ofConsole).compose(contract -> {
            HttpVerticle.Shared shared = new HttpVerticle.Shared(
                    contract,
                    api.files(),
                    api.limits(),
                    HttpMetrics.of(metrics, contract),
                    api.connectionCap(),
                    api.demo());
            ConsoleRoutes routes = new ConsoleRoutes(vertx, contract, services);
            return opening.get()
                    .map(all -> new HttpVerticle.Opened(all.services(), all.host(), new NoSockets(), all.close()))
                    .map(opened -> new ConsoleFace(vertx, settings.forConsole(), shared, opened, routes));
        });
    }

    @Override
    public void handle(HttpServerRequest request) {
        face.handle(request);
    }

    /** Refuses new calls, and waits for calls in progress as long as the API does. */
    public Future<Void> close() {
        face.refuseNewWork();
        return ongoing.ended(vertx, settings.timeouts().drain()).eventually(opened.close());
    }

    /** The console has no WebSocket. */
    private record NoSockets() implements SocketUpgrade {
        @Override
        public void upgrade(HttpServerRequest request, Supplier<Runnable> opened, Consumer<Problem> refuse) {
            refuse.accept(Problem.of(ProblemType.NO_SUCH_PATH));
        }

        @Override
        public Future<Void> close() {
            return Future.succeededFuture();
        }
    }
}
