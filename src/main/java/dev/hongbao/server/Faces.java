package dev.hongbao.server;

import dev.hongbao.common.config.HongbaoConfig;
import dev.hongbao.common.config.HttpConfig;
import dev.hongbao.web.access.CallLimits;
import dev.hongbao.web.access.RateLimits;
import dev.hongbao.web.access.Tokens;
import dev.hongbao.web.api.Contract;
import dev.hongbao.web.api.Frames;
import dev.hongbao.web.http.ClientAddresses;
import dev.hongbao.web.http.HostServices;
import dev.hongbao.web.http.HttpMetrics;
import dev.hongbao.web.http.HttpVerticle;
import dev.hongbao.web.http.ServiceCertificate;
import dev.hongbao.web.http.Services;
import dev.hongbao.web.page.PageFiles;
import dev.hongbao.web.ws.SocketFace;
import dev.hongbao.web.ws.SocketGuards;
import dev.hongbao.web.ws.SocketMetrics;
import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.time.Clock;

/**
 * What the faces are made of: what all their instances share, and what each event loop has for itself.
 *
 * @param http shared by the instances of the API's port
 * @param sockets shared by those that keep WebSockets
 * @param mostConnections of the API's port, as far as there may be open files
 */
record Faces(HttpVerticle.Shared http, SocketFace.Shared sockets, int mostConnections) {
    /** Reads what they serve; it needs no store. Blocks. */
    static Faces load(HongbaoConfig config, Tokens tokens, MeterRegistry metrics, Clock clock) throws IOException {
        HttpConfig http = config.web().http();
        int mostConnections = OpenFiles.atMost(http.connections().max());
        Frames frames = Frames.load();
        Contract contract = Contract.load();
        ClientAddresses addresses = FaceSettings.addresses(http);
        CallLimits limits = new CallLimits(
                tokens,
                new RateLimits(
                        FaceSettings.limits(
                                config.web().limits(), config.domain().packet()),
                        System::nanoTime),
                FaceSettings.inFlight(config));
        SocketGuards guards = new SocketGuards(
                config.web().socket().connections(),
                addresses,
                FaceSettings.origins(http),
                ServiceCertificate.on(http.address()));
        return new Faces(
                new HttpVerticle.Shared(
                        contract,
                        PageFiles.chat(config.page().images()),
                        limits,
                        HttpMetrics.of(metrics, contract),
                        FaceSettings.connections(http, mostConnections, addresses, metrics),
                        DemoRules.login(config, clock)),
                new SocketFace.Shared(
                        config.web().socket(), frames, limits, guards, new SocketMetrics(metrics, guards), clock),
                mostConnections);
    }

    /** Opens what one instance has for itself, on the current event loop. */
    Future<HttpVerticle.Opened> open(Vertx vertx, Engine engine) {
        return engine.loopServices()
                .map(loop -> new HttpVerticle.Opened(
                        services(engine, loop),
                        hostServices(engine, loop),
                        socketFace(vertx, engine, loop),
                        () -> loop.redis().close()));
    }

    private static Services services(Engine engine, LoopServices loop) {
        return new Services(
                loop.claims(), loop.packets(), engine.wallets(), loop.feed(), engine.profiles(), loop.hosted());
    }

    private static HostServices hostServices(Engine engine, LoopServices loop) {
        Accounting accounting = engine.accounting();
        return new HostServices(
                engine.outbox().outbox(),
                engine.outbox().webhooks(),
                engine.outbox().webhookProbe(),
                new HostServices.Money(
                        accounting.assets(), accounting.books(), accounting.restrictions(), accounting.revocations()),
                accounting.trail(),
                loop.support());
    }

    private SocketFace socketFace(Vertx vertx, Engine engine, LoopServices loop) {
        return new SocketFace(
                vertx,
                sockets,
                loop.claims(),
                loop.packets(),
                loop.plays(),
                loop.campaigns(),
                loop.feed(),
                engine.accounting().trail().log(),
                engine.accounting().restrictions());
    }
}
