package dev.hongbao.ws;

import dev.hongbao.access.Access;
import dev.hongbao.access.AuditLog.AuditRow;
import dev.hongbao.access.CallLog;
import dev.hongbao.access.RateLimits;
import dev.hongbao.access.Tokens.TokenVerdict;
import dev.hongbao.campaign.CampaignService;
import dev.hongbao.draw.DrawBodies;
import dev.hongbao.draw.Play.PlayOutcome;
import dev.hongbao.draw.PlayRoutes;
import dev.hongbao.draw.PlayService;
import dev.hongbao.feed.FeedService;
import dev.hongbao.feed.FeedService.FeedPage;
import dev.hongbao.http.CallsInFlight;
import dev.hongbao.http.Contract.Frames;
import dev.hongbao.http.HttpFace.CallsUnderWay;
import dev.hongbao.http.Language;
import dev.hongbao.http.Problem;
import dev.hongbao.http.ProblemType;
import dev.hongbao.packet.Claim.ClaimOutcome;
import dev.hongbao.packet.Claim.ClaimOutcome.Kind;
import dev.hongbao.packet.ClaimRoutes;
import dev.hongbao.packet.ClaimService;
import dev.hongbao.packet.PacketBodies;
import dev.hongbao.packet.PacketService;
import dev.hongbao.packet.SendCommand;
import dev.hongbao.values.Caller;
import dev.hongbao.values.Caller.Role;
import dev.hongbao.values.CampaignId;
import dev.hongbao.values.DrawId;
import dev.hongbao.values.GroupId;
import dev.hongbao.values.IdempotencyKey;
import dev.hongbao.values.InvalidInputException;
import dev.hongbao.values.Members;
import dev.hongbao.values.Metadata;
import dev.hongbao.values.PacketId;
import dev.hongbao.values.Reason;
import dev.hongbao.values.Text;
import dev.hongbao.values.TooManyCallsException.RateDecision;
import io.vertx.core.Future;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Clock;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One small function for each frame of a client: extract, call the service that HTTP calls too, answer. Confined to its event loop. */
final class Requests {
    final Access gate;
    final FeedService feed;
    final ClaimService claims;
    final PlayService plays;
    final Clock clock;
    private final Frames frames;
    private final PacketService packets;
    private final CampaignService campaigns;
    private final ClaimRoutes claimsForUsers;
    private final PlayRoutes playsForUsers;
    private final RateLimits limits;
    private final CallsInFlight inFlight;
    private final CallsUnderWay ongoing = new CallsUnderWay();

    Requests(
            Frames frames,
            Access gate,
            FeedService feed,
            ClaimRoutes claims,
            PlayRoutes plays,
            PacketService packets,
            CampaignService campaigns,
            Clock clock) {
        this.frames = frames;
        this.gate = gate;
        this.feed = feed;
        this.claims = claims.service();
        this.claimsForUsers = claims;
        this.plays = plays.service();
        this.playsForUsers = plays;
        this.packets = packets;
        this.campaigns = campaigns;
        this.clock = clock;
        this.limits = gate.rates();
        this.inFlight = gate.inFlight();
    }

    /**
     * Answers a frame. Before authentication it validates only a token frame, so that strangers' long lists cost nothing.
     *
     * @throws InvalidInputException when it does not fit the contract, or a value is invalid
     */
    void answer(Connection connection, JsonObject frame) {
        String type = frames.typeOf(frame);
        if (type.equals("auth")) {
            frames.check(type, frame);
            authenticate(connection, frame.getString("id"), frame.getString("token"));
            return;
        }
        Caller caller = callerOf(connection, FrameReader.idOf(frame));
        if (caller == null) {
            return;
        }
        frames.check(type, frame);
        String id = frame.getString("id");
        Asked asked = Asked.of(connection, caller, type, frame);
        if (asked == null) {
            unasked(connection, type, id, frame);
            return;
        }
        switch (type) {
            case "join" -> join(asked, frame);
            case "send" -> send(asked, frame);
            case "open" -> open(asked, frame);
            case "claim" -> claim(asked, frame);
            case "play" -> play(asked, frame);
            case "claims" -> many(asked, type, frame.getJsonArray(type));
            case "plays" -> many(asked, type, frame.getJsonArray(type));
            default -> throw new IllegalStateException("nothing answers the contract's frame " + type);
        }
    }

    /** Frames that concern only the connection. */
    private void unasked(Connection connection, String type, String id, JsonObject frame) {
        switch (type) {
            case "leave" -> leave(connection, id, new GroupId(frame.getString("group")));
            case "ping" -> connection.send(ServerFrames.pong(id, clock.instant().truncatedTo(ChronoUnit.MICROS)));
            default -> throw new IllegalStateException("nothing answers the contract's frame " + type);
        }
    }

    /** Answers a frame with a token: the first one names the user, a later one renews the first. */
    private void authenticate(Connection connection, String id, String token) {
        TokenVerdict verdict = gate.tokens().verify(token);
        Caller fresh = verdict.caller();
        Caller before = connection.caller();
        if (fresh == null) {
            connection.refuse(id, ofToken(verdict));
            if (before == null) {
                connection.close(CloseReason.TOKEN_REFUSED);
            }
            return;
        }
        Problem uncertified = gate.uncertified(fresh, connection.sslSession());
        if (uncertified != null) {
            turnAway(connection, id, uncertified, CloseReason.TOKEN_REFUSED);
            return;
        }
        if (connection.face().isBlocked(fresh)) {
            turnAway(connection, id, Problem.of(ProblemType.BLOCKED).because(Reason.USER), CloseReason.BLOCKED);
            return;
        }
        if (before != null && !before.user().equals(fresh.user())) {
            connection.refuse(id, Problem.of(ProblemType.FORBIDDEN, Reason.USER, Text.of("socket.other-user")));
            return;
        }
        if (before == null && !connection.face().sockets().enterUser(fresh.user())) {
            connection.refuse(
                    id, Problem.of(ProblemType.TOO_MANY_REQUESTS, Reason.CONNECTIONS, Text.of("socket.close-another")));
            connection.close(CloseReason.TOO_MANY_CONNECTIONS);
            return;
        }
        connection.send(ServerFrames.authenticated(id, fresh));
        connection.authenticated(verdict);
    }

    /** The caller. @param id null for none @return null if the frame is refused, and answered so */
    private @Nullable Caller callerOf(Connection connection, @Nullable String id) {
        Caller caller = connection.caller();
        if (caller == null) {
            connection.refuse(id, Problem.of(ProblemType.UNAUTHENTICATED, Reason.MISSING, Text.of("socket.no-auth")));
            return null;
        }
        if (connection.face().isStopping()) {
            connection.refuse(id, Problem.of(ProblemType.STOPPING));
            return null;
        }
        if (connection.face().isBlocked(caller)) {
            turnAway(connection, id, Problem.of(ProblemType.BLOCKED).because(Reason.USER), CloseReason.BLOCKED);
            return null;
        }
        if (connection.face().isRevoked(caller)) {
            turnAway(
                    connection,
                    id,
                    ofToken(TokenVerdict.refused(TokenVerdict.Fault.REVOKED)),
                    CloseReason.TOKEN_REFUSED);
            return null;
        }
        return caller;
    }

    private static Problem ofToken(TokenVerdict refused) {
        return Problem.ofToken(refused.reason(), refused.sentence());
    }

    private static void turnAway(Connection connection, @Nullable String id, Problem why, CloseReason reason) {
        connection.refuse(id, why);
        connection.close(reason);
    }

    private void join(Asked asked, JsonObject frame) {
        Caller caller = asked.caller();
        Connection connection = asked.connection();
        GroupId group = new GroupId(frame.getString("group"));
        String after = frame.getString("after");
        int statePackets = frame.getInteger("packets", FeedService.STATE_PACKETS);
        Long place = after == null ? null : FeedService.place(after);
        if (after != null && place == null) {
            throw InvalidInputException.of("#/after", Text.of("cursor.unknown"));
        }
        if (!isAllowed(asked, limits.call(caller))) {
            return;
        }
        feed.members(group).onFailure(asked::fail).onSuccess(members -> {
            if (!mayJoin(asked, members, group)) {
                return;
            }
            if (place != null) {
                asked.answer(200, ServerFrames.joined(asked.id(), group, place));
                connection.join(group, members, place, false, statePackets);
            } else {
                join(asked, members, group, statePackets);
            }
        });
    }

    private void join(Asked asked, Members members, GroupId group, int statePackets) {
        Caller caller = asked.caller();
        Connection connection = asked.connection();
        inFlight.run(caller, () -> feed.state(caller, group, FeedPage.Reset.START, statePackets))
                .onFailure(asked::fail)
                .onSuccess(state -> {
                    if (mayJoin(asked, members, group)) { // the token or other groups may have changed
                        asked.answer(200, ServerFrames.joined(asked.id(), group, state));
                        connection.join(group, members, state.next(), true, statePackets);
                    }
                });
    }

    /** Whether the connection may follow the group now; if not, the request is answered. */
    private static boolean mayJoin(Asked asked, Members members, GroupId group) {
        Connection connection = asked.connection();
        if (!connection.isAmong(members)) {
            asked.refuse(Problem.of(ProblemType.NOT_ELIGIBLE, Reason.GROUP, Text.of("group.not-followed")));
        } else if (!connection.mayJoin(group)) {
            asked.refuse(Problem.of(
                    ProblemType.TOO_MANY_REQUESTS,
                    Reason.GROUPS,
                    Text.of("socket.too-many-groups", connection.face().config().maxGroups())));
        } else {
            return true;
        }
        return false;
    }

    private static void leave(Connection connection, String id, GroupId group) {
        connection.leave(group);
        connection.send(ServerFrames.left(id, group));
    }

    private void send(Asked asked, JsonObject frame) {
        Caller caller = asked.caller();
        if (!isAllowed(asked, limits.call(caller))) {
            return;
        }
        SendCommand command = packet(frame.getJsonObject("packet"));
        IdempotencyKey key = new IdempotencyKey(frame.getString("key"));
        inFlight.run(
                        caller,
                        () -> ongoing.track(limits.mayIssue(caller, command.count())
                                .compose(allowed -> packets.send(caller, command, key))))
                .onFailure(asked::fail)
                .onSuccess(packet -> asked.answer(201, ServerFrames.sent(asked.id(), packet)));
    }

    private static SendCommand packet(JsonObject body) {
        try {
            return PacketBodies.send(body);
        } catch (InvalidInputException invalid) {
            throw invalid.within("/packet");
        }
    }

    private void open(Asked asked, JsonObject frame) {
        Caller caller = asked.caller();
        CampaignId campaign = CampaignId.parse(frame.getString("campaign"));
        if (campaign == null) {
            throw InvalidInputException.of("#/campaign", Text.of("id.campaign"));
        }
        GroupId group = new GroupId(frame.getString("group"));
        IdempotencyKey key = new IdempotencyKey(frame.getString("key"));
        String product = frame.getString("product");
        Metadata metadata = Metadata.ofJson(frame.getJsonObject("metadata"));
        if (!isAllowed(asked, limits.call(caller))) {
            return;
        }
        inFlight.run(
                        caller,
                        () -> ongoing.track(campaigns
                                .shares(campaign)
                                .compose(shares -> limits.mayIssue(caller, shares))
                                .compose(allowed -> campaigns.open(caller, campaign, product, group, metadata, key))))
                .onFailure(asked::fail)
                .onSuccess(packet -> asked.answer(201, ServerFrames.sent(asked.id(), packet)));
    }

    private void claim(Asked asked, JsonObject frame) {
        Caller caller = asked.caller();
        Connection connection = asked.connection();
        PacketId packet = PacketId.parse(frame.getString("packet"));
        if (packet == null) {
            throw InvalidInputException.of("#/packet", Text.of("id.packet"));
        }
        String passcode = frame.getString("passcode");
        if (!isAllowed(asked, limits.claim(caller))) {
            return;
        }
        RateLimits.PasscodeTry tried = limits.passcode(caller, packet, passcode);
        if (!tried.decision().allowed()) {
            asked.fail(tried.refusal());
            return;
        }
        connection.claims().asked(packet.value());
        claims.claim(caller, packet, passcode, claim -> connection.send(ServerFrames.claimAccepted(asked.id(), claim)))
                .onComplete(done -> {
                    ClaimOutcome outcome = done.result();
                    connection.claims().answered(packet.value(), outcome != null && outcome.claim() != null);
                    tried.ended(outcome != null && outcome.kind() == Kind.WRONG_PASSCODE);
                    if (done.succeeded()) {
                        tell(asked, outcome);
                    } else {
                        asked.fail(done.cause());
                    }
                });
    }

    private static void tell(Asked asked, ClaimOutcome outcome) {
        switch (outcome.kind()) {
            case CLAIMED -> asked.answer(201, ServerFrames.claimSettled(asked.id(), true, outcome.wonClaim()));
            case ALREADY_CLAIMED -> asked.answer(200, ServerFrames.claimSettled(asked.id(), false, outcome.wonClaim()));
            case ACCEPTED -> throw new IllegalStateException("a settled claim is not only accepted");
            case DRAINED, EXPIRED, NOT_OPEN_YET, NOT_ELIGIBLE, WRONG_PASSCODE, LIMITED, NOT_FOUND ->
                asked.refuse(PacketBodies.problem(outcome));
        }
    }

    private void play(Asked asked, JsonObject frame) {
        Caller caller = asked.caller();
        Connection connection = asked.connection();
        DrawId draw = DrawId.parse(frame.getString("draw"));
        if (draw == null) {
            throw InvalidInputException.of("#/draw", Text.of("id.draw"));
        }
        if (!isAllowed(asked, limits.call(caller))) {
            return;
        }
        IdempotencyKey key = new IdempotencyKey(frame.getString("key"));
        UUID request = PlayService.requestOf(draw, caller.user(), key);
        connection.plays().asked(request);
        inFlight.run(caller, () -> ongoing.track(plays.play(caller, draw, frame.getInteger("plays", 1), key)))
                .onComplete(done -> {
                    PlayOutcome outcome = done.result();
                    connection
                            .plays()
                            .answered(
                                    request, outcome != null && !outcome.plays().isEmpty());
                    if (done.succeeded()) {
                        tell(asked, outcome);
                    } else {
                        asked.fail(done.cause());
                    }
                });
    }

    private static void tell(Asked asked, PlayOutcome outcome) {
        switch (outcome.kind()) {
            case PLAYED -> asked.answer(201, ServerFrames.playSettled(asked.id(), true, outcome.plays()));
            case ALREADY_PLAYED -> asked.answer(200, ServerFrames.playSettled(asked.id(), false, outcome.plays()));
            case EXHAUSTED, LIMIT_REACHED, DAILY_LIMIT_REACHED, NOT_OPEN_YET, CLOSED, NOT_ELIGIBLE, NOT_FOUND ->
                asked.refuse(DrawBodies.problem(outcome));
        }
    }

    /** Claims or plays of the backend for its users. @param type also the name of their list */
    private void many(Asked asked, String type, JsonArray items) {
        Caller backend = asked.caller();
        if (backend.role() != Role.SERVICE) {
            asked.refuse(Problem.of(ProblemType.FORBIDDEN).because(Reason.ROLE));
            return;
        }
        if (!isAllowed(asked, limits.call(backend))) {
            return;
        }
        Language language = asked.connection().language();
        ongoing.track(
                        type.equals("claims")
                                ? claimsForUsers.outcomes(backend, items, language, false)
                                : inFlight.run(backend, () -> playsForUsers.outcomes(backend, items, language)))
                .onFailure(asked::fail)
                .onSuccess(outcomes -> asked.answer(
                        200,
                        type.equals("claims")
                                ? ServerFrames.claimsAnswered(asked.id(), outcomes)
                                : ServerFrames.playsAnswered(asked.id(), outcomes)));
    }

    /** Counts work until it ends, for a stop. */
    <T> Future<T> track(Future<T> work) {
        return ongoing.track(work);
    }

    /** Whether a send, an opening or a play of any connection, open or closed, is in progress. */
    boolean isBusy() {
        return !ongoing.isEmpty();
    }

    /** False at the limit; the request is then answered. */
    private static boolean isAllowed(Asked asked, RateDecision decision) {
        if (!decision.allowed()) {
            asked.refuse(Problem.tooMany(
                    Reason.RATE, Text.of("rate.wait", decision.retryAfterSeconds()), decision.retryAfterSeconds()));
        }
        return decision.allowed();
    }

    /**
     * A caller's frame, until it is answered. The audit log records it as the corresponding HTTP call, with the method {@code FRAME}.
     * Confined to the connection's event loop.
     */
    private static final class Asked {
        private static final Logger LOG = LoggerFactory.getLogger(Requests.class);

        /** The corresponding HTTP call. @param operation null if it changes nothing @param names the field that the path contains */
        private record Call(@Nullable String operation, String route, String names) {}

        private static final Map<String, Call> CALLS = Map.of(
                "join", new Call(null, "/v1/groups/{group}/events", "group"),
                "send", new Call("sendPacket", "/v1/packets", ""),
                "open", new Call("openPool", "/v1/campaigns/{campaign}/pools", "campaign"),
                "claim", new Call("claim", "/v1/packets/{packet}/claims", "packet"),
                "play", new Call("play", "/v1/draws/{draw}/plays", "draw"),
                "claims", new Call("claimMany", "/v1/claims", ""),
                "plays", new Call("playMany", "/v1/plays", ""));

        private final Connection connection;
        private final Caller caller;
        private final JsonObject frame;
        private final Call call;

        private Asked(Connection connection, Caller caller, JsonObject frame, Call call) {
            this.connection = connection;
            this.caller = caller;
            this.frame = frame;
            this.call = call;
        }

        /** @param frame fits its schema; null for a type without a corresponding HTTP call */
        static @Nullable Asked of(Connection connection, Caller caller, String type, JsonObject frame) {
            Call call = CALLS.get(type);
            return call == null ? null : new Asked(connection, caller, frame, call);
        }

        Connection connection() {
            return connection;
        }

        Caller caller() {
            return caller;
        }

        /** The frame's id, which its answers repeat. */
        String id() {
            return frame.getString("id");
        }

        /** Answers. @param status of the same answer over HTTP */
        void answer(int status, String answer) {
            told(status, null, () -> connection.send(answer));
        }

        void refuse(Problem problem) {
            told(problem.type().status(), problem.type().wireName(), () -> connection.tell(id(), problem));
        }

        /** Answers a failed request: a refusal as its problem, anything else with one log line. */
        void fail(Throwable failure) {
            Problem problem = Problem.ofFailure(failure);
            if (problem == null) {
                FrameReader.failed(caller, frame, failure);
                problem = Problem.of(ProblemType.INTERNAL_ERROR);
            }
            refuse(problem);
        }

        private void told(int status, @Nullable String problem, Runnable answer) {
            boolean isService = caller.role() == Role.SERVICE;
            if (!CallLog.isTold(isService, status)) {
                answer.run();
                return;
            }
            AuditRow.Kind kind =
                    new AuditRow.Kind(AuditRow.Who.of(caller), Connection.METHOD, call.route, null, status, problem);
            Future<Void> written = connection.face().audit().tell(kind, () -> row(kind), isService, call.operation);
            if (written == null) {
                answer.run();
                return;
            }
            connection.face().requests().track(written).onComplete(done -> {
                if (done.succeeded()) {
                    answer.run();
                } else {
                    LOG.warn(
                            "FRAME {} is not in the audit log: {}",
                            call.route,
                            done.cause().toString());
                    connection.tell(id(), Problem.of(ProblemType.UNKNOWN));
                }
            });
        }

        private AuditRow row(AuditRow.Kind kind) {
            // In a send it is an object, in a claim a packet's id.
            Object packet = frame.getValue("packet");
            String named = call.names.isEmpty() ? null : frame.getString(call.names);
            return new AuditRow(
                    kind.about(AuditRow.text(named)),
                    null,
                    packet instanceof JsonObject sent ? AuditRow.text(sent.getString("reference")) : null,
                    1);
        }
    }
}
