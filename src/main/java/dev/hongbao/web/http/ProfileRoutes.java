package dev.hongbao.web.http;

import dev.hongbao.common.values.UserId;
import dev.hongbao.domain.profile.Profiles;
import dev.hongbao.web.api.ProfileBodies;
import io.vertx.core.Future;
import java.util.Map;

/** The calls on how users are shown. Confined to its event loop. */
public final class ProfileRoutes {
    private final Profiles profiles;

    public ProfileRoutes(Profiles profiles) {
        this.profiles = profiles;
    }

    /** By {@code operationId}. */
    public Map<String, Route> byOperation() {
        return Map.of(
                "getProfile",
                call -> stored(call.user()),
                "putProfile",
                call -> profiles.put(call.user(), ProfileBodies.profile(call.requiredBody()))
                        .compose(done -> stored(call.user())),
                "deleteProfile",
                call -> profiles.delete(call.user()).map(done -> Reply.of(204, "", "")));
    }

    private Future<Reply> stored(UserId user) {
        return profiles.find(user).map(stored -> Reply.json(200, ProfileBodies.stored(user, stored)));
    }
}
