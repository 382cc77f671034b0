package dev.hongbao.ws;

import dev.hongbao.draw.DrawBodies;
import dev.hongbao.draw.Play;
import dev.hongbao.feed.FeedService.FeedPage;
import dev.hongbao.http.Language;
import dev.hongbao.http.Problem;
import dev.hongbao.packet.Claim;
import dev.hongbao.packet.Packet;
import dev.hongbao.packet.PacketBodies;
import dev.hongbao.packet.PacketView;
import dev.hongbao.values.Caller;
import dev.hongbao.values.GroupId;
import dev.hongbao.values.JsonText;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The server's frames, except {@code event}, which the feed renders once for all clients. asyncapi.yaml defines the names. */
final class ServerFrames {
    private static final int SHORT = 160;
    private static final int LONG = 1024;

    private ServerFrames() {}

    static String authenticated(String id, Caller caller) {
        return begin(LONG, "authenticated")
                .field("id", id)
                .plain("user", caller.user().value())
                .items("groups", caller.groups(), (json, group) -> json.plain(group.value()))
                .plain("expiresAt", caller.expiresAt().toString())
                .endObject()
                .toString();
    }

    /** The answer to a join from a cursor. */
    static String joined(String id, GroupId group, long place) {
        return joining(id, group, place).endObject().toString();
    }

    static String joined(String id, GroupId group, FeedPage state) {
        return packets(joining(id, group, state.next()), state).endObject().toString();
    }

    private static JsonText joining(String id, GroupId group, long place) {
        return begin(LONG, "joined")
                .field("id", id)
                .plain("group", group.value())
                .plain("cursor", Long.toString(place));
    }

    static String left(@Nullable String id, GroupId group) {
        JsonText json = begin(SHORT, "left");
        if (id != null) {
            json.field("id", id);
        }
        return json.plain("group", group.value()).endObject().toString();
    }

    static String sent(String id, Packet packet) {
        String shown = PacketBodies.packet(PacketView.ofNew(packet), Map.of(), packet.sender());
        return with(begin(LONG, "sent").field("id", id), "packet", shown);
    }

    static String claimAccepted(String id, Claim claim) {
        return with(begin(LONG, "claim.accepted").field("id", id), "claim", PacketBodies.claim(claim));
    }

    static String claimSettled(String id, boolean first, Claim claim) {
        JsonText frame = begin(LONG, "claim.settled").field("id", id).field("first", first);
        return with(frame, "claim", PacketBodies.claim(claim));
    }

    /** The user's own claim, made on another connection. */
    static String claimSettled(Claim claim) {
        return with(begin(LONG, "claim.settled"), "claim", PacketBodies.claim(claim));
    }

    static String playSettled(String id, boolean first, List<Play> plays) {
        JsonText frame = begin(LONG, "play.settled").field("id", id).field("first", first);
        return with(frame, "plays", DrawBodies.plays(plays));
    }

    /** The user's own plays, made on another connection. */
    static String playSettled(List<Play> plays) {
        return with(begin(LONG, "play.settled"), "plays", DrawBodies.plays(plays));
    }

    /** @param outcomes the contract's list, as JSON */
    static String claimsAnswered(String id, String outcomes) {
        return with(begin(LONG, "claims.answered").field("id", id), "outcomes", outcomes);
    }

    /** @param outcomes the contract's list, as JSON */
    static String playsAnswered(String id, String outcomes) {
        return with(begin(LONG, "plays.answered").field("id", id), "outcomes", outcomes);
    }

    /** A frame that ends with a value. @param json the value */
    private static String with(JsonText frame, String name, String json) {
        return frame.name(name).raw(json).endObject().toString();
    }

    static String pong(String id, Instant at) {
        return begin(SHORT, "pong")
                .field("id", id)
                .plain("at", at.toString())
                .endObject()
                .toString();
    }

    static String reset(GroupId group, FeedPage state) {
        JsonText json = begin(LONG, "reset")
                .plain("group", group.value())
                .plain("cursor", Long.toString(state.next()))
                .plain("reason", Objects.requireNonNull(state.reset()).wireName());
        return packets(json, state).endObject().toString();
    }

    static String error(@Nullable String id, Problem problem, Language language) {
        String told = Problem.Told.of(problem, language).withRetry();
        return with(begin(LONG, "error").field("id", id), "error", told);
    }

    private static JsonText packets(JsonText json, FeedPage state) {
        return json.items(
                "packets", state.packets(), (out, packet) -> out.raw(PacketBodies.packet(packet, state.people())));
    }

    private static JsonText begin(int capacity, String type) {
        return new JsonText(capacity).beginObject().plain("type", type);
    }
}
