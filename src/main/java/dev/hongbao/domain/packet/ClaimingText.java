package dev.hongbao.domain.packet;

import dev.hongbao.common.values.GroupId;
import dev.hongbao.common.values.Members;
import dev.hongbao.common.values.UserId;
import dev.hongbao.domain.packet.PoolTerms.Claiming;
import dev.hongbao.domain.packet.PoolTerms.Limits;
import dev.hongbao.domain.packet.PoolTerms.TokenRule;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.ZoneId;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Reads the rules for claims in a campaign's definition. Pure. */
public final class ClaimingText {
    private ClaimingText() {}

    /**
     * Reads {@code claiming}, already checked against the contract.
     *
     * @param zone of the definition
     * @param claiming null for no rule
     * @param members see {@link Claiming}
     * @throws IllegalArgumentException where a name is not allowed
     */
    public static Claiming read(ZoneId zone, @Nullable JsonObject claiming, Members members) {
        if (claiming == null) {
            return new Claiming(zone, Limits.NONE, Set.of(), null, members);
        }
        JsonObject token = claiming.getJsonObject("token");
        return new Claiming(
                zone,
                new Limits(
                        claiming.getInteger("total", 0),
                        claiming.getInteger("aDay", 0),
                        claiming.getInteger("aProduct", 0)),
                texts(claiming.getJsonArray("users")).stream().map(UserId::new).collect(Collectors.toSet()),
                token == null ? null : new TokenRule(token.getString("name"), texts(token.getJsonArray("values"))),
                members);
    }

    /** Reads the audience of a rain's definition. */
    public static Members members(JsonObject rain) {
        return new Members(
                rain.getBoolean("everyone", false),
                texts(rain.getJsonArray("groups")).stream().map(GroupId::new).collect(Collectors.toSet()));
    }

    private static Set<String> texts(@Nullable JsonArray list) {
        return list == null ? Set.of() : list.stream().map(String.class::cast).collect(Collectors.toSet());
    }
}
