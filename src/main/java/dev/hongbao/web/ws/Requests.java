package dev.hongbao.web.ws;

import dev.hongbao.common.json.InvalidInputException;
import dev.hongbao.common.json.Metadata;
import dev.hongbao.common.json.Text;
import dev.hongbao.common.values.Caller;
import dev.hongbao.common.values.GroupId;
import dev.hongbao.common.values.IdempotencyKey;
import dev.hongbao.common.values.Members;
import dev.hongbao.common.values.Reason;
import dev.hongbao.domain.campaign.CampaignId;
import dev.hongbao.domain.campaign.CampaignService;
import dev.hongbao.domain.claim.ClaimOutcome;
import dev.hongbao.domain.claim.ClaimOutcome.Kind;
import dev.hongbao.domain.claim.ClaimService;
import dev.hongbao.domain.draw.DrawId;
import dev.hongbao.domain.feed.FeedPage;
import dev.hongbao.domain.feed.FeedService;
import dev.hongbao.domain.packet.PacketId;
import dev.hongbao.domain.packet.PacketService;
import dev.hongbao.domain.packet.SendCommand;
import dev.hongbao.domain.play.PlayOutcome;
import dev.hongbao.domain.play.PlayService;
import dev.hongbao.web.access.CallsInFlight;
import dev.hongbao.web.access.PasscodeTry;
import dev.hongbao.web.access.RateDecision;
import dev.hongbao.web.access.RateLimits;
import dev.hongbao.web.api.DrawBodies;
import dev.hongbao.web.api.Frames;
import dev.hongbao.web.api.PacketBodies;
import dev.hongbao.web.api.Problem;
import dev.hongbao.web.api.ProblemType;
import dev.hongbao.web.api.SendBody;
import dev.hongbao.web.http.Access;
import dev.hongbao.web.http.CallsUnderWay;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.time.Clock;
import java.time.temporal.ChronoUnit;
import java.util.UUID;

/** One small function for each frame of a client: extract, call the service that HTTP calls too, answer. Confined to its event loop. */
final class Requests {
    private final SocketFace face;
    private final Frames frames;
    private final Authentication authentication;
    private final RateLimits limits;
    private final CallsInFlight inFlight;
    private final ClaimService claims;
    private final PacketService packets;
    private final PlayService plays;
    private final CampaignService campaigns;
    private final FeedService feed;
    private final Clock clock;
    private final CallsUnderWay ongoing = new CallsUnderWay();

    Requests(
            SocketFace face,
            Frames frames,
            Access gate,
            ClaimService claims,
            PacketService packets,
            PlayService plays,
            CampaignService campaigns,
            Clock clock) {
        this.face = face;
        this.frames = frames;
        this.authentication = new Authentication(face, gate.tokens());
        this.limits = gate.rates();
        this.inFlight = gate.inFlight();
        this.claims = claims;
        this.packets = packets;
        this.plays = plays;
        this.campaigns = campaigns;
        this.feed = face.feed();
        this.clock = clock;
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
            authentication.authenticate(connection, frame.getString("id"), frame.getString("token"));
            return;
        }
        Caller caller = authentication.callerOf(connection, FrameReader.idOf(frame));
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
            if (!members.include(caller)) {
                asked.refuse(Problem.of(ProblemType.NOT_ELIGIBLE, Reason.GROUP, Text.of("group.not-followed")));
            } else if (!connection.mayJoin(group)) {
                asked.refuse(tooManyGroups());
            } else if (place != null) {
                asked.answer(200, ServerFrames.joined(asked.id(), group, place));
                connection.join(group, members, new Membership.Start(place, false), statePackets);
            } else {
                join(asked, members, group, statePackets);
            }
        });
    }

    /** Joins from the current state. */
    private void join(Asked asked, Members members, GroupId group, int statePackets) {
        Caller caller = asked.caller();
        Connection connection = asked.connection();
        inFlight.run(caller, () -> feed.state(caller, group, FeedPage.Reset.START, statePackets))
                .onFailure(asked::fail)
                .onSuccess(state -> {
                    if (!connection.mayJoin(group)) { // other joins were in progress
                        asked.refuse(tooManyGroups());
                        return;
                    }
                    asked.answer(200, ServerFrames.joined(asked.id(), group, state));
                    connection.join(group, members, new Membership.Start(state.next(), true), statePackets);
                });
    }

    private Problem tooManyGroups() {
        return Problem.of(
                ProblemType.TOO_MANY_REQUESTS,
                Reason.GROUPS,
                Text.of("socket.too-many-groups", face.config().maxGroups()));
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
        SendCommand command = SendBody.decode(frame.getJsonObject("packet"));
        IdempotencyKey key = new IdempotencyKey(frame.getString("key"));
        inFlight.run(
                        caller,
                        () -> ongoing.track(limits.mayIssue(caller, command.count())
                                .compose(allowed -> packets.send(caller, command, key))))
                .onFailure(asked::fail)
                .onSuccess(packet -> asked.answer(201, ServerFrames.sent(asked.id(), packet)));
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
        PasscodeTry tried = limits.passcode(caller, packet, passcode);
        if (!tried.decision().allowed()) {
            asked.fail(tried.refusal());
            return;
        }
        connection.claims().asked(packet.value());
        claims.claim(caller, packet, passcode, claim -> connection.send(ServerFrames.claimAccepted(asked.id(), claim)))
                .onComplete(done -> {
                    connection.claims().answered(packet.value(), true);
                    ClaimOutcome outcome = done.result();
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
                    connection.plays().answered(request, done.succeeded());
                    if (done.succeeded()) {
                        tell(asked, done.result());
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
}
