package dev.hongbao.access;

import dev.hongbao.http.Reply;
import dev.hongbao.http.Route;
import dev.hongbao.values.UserId;
import io.vertx.core.Future;
import java.util.Map;

/** The calls on how users are shown. Confined to its event loop. */
final class ProfileRoutes {
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
