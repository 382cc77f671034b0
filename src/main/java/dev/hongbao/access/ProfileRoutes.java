package dev.hongbao.access;

import dev.hongbao.http.HttpFace.Route;
import dev.hongbao.http.Reply;
import dev.hongbao.values.InvalidInputException;
import dev.hongbao.values.InvalidInputException.FieldFault;
import dev.hongbao.values.JsonText;
import dev.hongbao.values.PictureUrl;
import dev.hongbao.values.ShownText;
import dev.hongbao.values.Text;
import dev.hongbao.values.UserId;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The calls on how users are shown. Confined to its event loop. */
final class ProfileRoutes {
    private final Profiles profiles;

    ProfileRoutes(Profiles profiles) {
        this.profiles = profiles;
    }

    /** By {@code operationId}. */
    Map<String, Route> byOperation() {
        return Map.of(
                "getProfile",
                call -> stored(call.user()),
                "putProfile",
                call -> profiles.put(call.user(), profile(call.requiredBody())).compose(done -> stored(call.user())),
                "deleteProfile",
                call -> profiles.delete(call.user()).map(done -> Reply.of(204, "", "")));
    }

    private Future<Reply> stored(UserId user) {
        return profiles.find(user).map(stored -> Reply.json(200, stored(user, stored)));
    }

    /**
     * Reads the host application's profile of a user.
     *
     * @throws InvalidInputException with every fault
     */
    private static Profile profile(JsonObject body) {
        String name = body.getString("displayName");
        String avatar = body.getString("avatar");
        List<FieldFault> faults = new ArrayList<>();
        if (name != null && !ShownText.isName(name, Profile.MAX_NAME)) {
            faults.add(new FieldFault("#/displayName", Text.of("text.shown-name")));
        }
        if (avatar != null && !PictureUrl.isValid(avatar)) {
            faults.add(new FieldFault("#/avatar", Text.of("picture.url")));
        }
        if (!faults.isEmpty()) {
            throw InvalidInputException.of(faults);
        }
        return new Profile(name, avatar == null ? null : new PictureUrl(avatar));
    }

    private static String stored(UserId user, Profile.Stored stored) {
        JsonText json = new JsonText(256).beginObject().plain("user", user.value());
        stored.profile().write(json);
        return json.field("givenBy", stored.givenBy()).endObject().toString();
    }
}
