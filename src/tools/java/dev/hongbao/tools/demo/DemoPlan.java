package dev.hongbao.tools.demo;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** The packets of the demo: all kinds in turn. One kind has more shares than members, so it ends with a refund. */
final class DemoPlan {
    static final String GROUP = "demo";
    private static final String PASSCODE = "恭喜发财";
    private static final int SENDERS = 12;
    private static final int RECIPIENTS = 20;
    private static final int SHORT_EXPIRY_SECONDS = 2;
    private static final String SURNAMES = "王李张刘陈杨黄赵吴周徐孙马朱胡郭何林高罗";
    private static final List<String> GIVEN = List.of("芳", "伟", "敏", "静", "磊", "洋", "艳", "勇", "娟", "涛");

    private DemoPlan() {}

    /**
     * One packet.
     *
     * @param passcode for its claims; null for none
     * @param eligible number of members who may claim
     */
    record PlannedPacket(
            String sender, JsonObject body, @Nullable String passcode, int eligible) {
        int shares() {
            return body.getInteger("count");
        }
    }

    /** A surname and a given name, different for 200 members. @param member from 0 */
    static String nameOf(int member) {
        return SURNAMES.substring(member % 20, member % 20 + 1) + GIVEN.get(member / 20 % GIVEN.size());
    }

    static List<PlannedPacket> of(int packets, List<String> members) {
        return IntStream.range(0, packets).mapToObj(i -> planned(i, members)).toList();
    }

    private static PlannedPacket planned(int i, List<String> members) {
        int everyone = members.size();
        List<String> named = members.subList(everyone - RECIPIENTS, everyone);
        JsonObject body = switch (i % 6) {
            case 0 -> packet("lucky", 8_888, 88).put("split", "double-mean");
            case 1 -> packet("lucky", 6_666, 66).put("split", "inflate");
            case 2 -> packet("lucky", 5_200, 52).put("split", "even-luck").put("max", 1_000);
            case 3 -> packet("equal", 5_000, 50);
            case 4 -> packet("exclusive", 2_000, RECIPIENTS / 2).put("recipients", new JsonArray(List.copyOf(named)));
            default ->
                packet("lucky", 10_000, everyone + 50)
                        .put("split", "double-mean")
                        .put("passcode", PASSCODE)
                        .put("expiresInSeconds", SHORT_EXPIRY_SECONDS);
        };
        return new PlannedPacket(
                members.get(i % SENDERS),
                body.put("greeting", "第 " + (i + 1) + " 个红包"),
                body.getString("passcode"),
                i % 6 == 4 ? RECIPIENTS : everyone);
    }

    private static JsonObject packet(String kind, long amount, int count) {
        return new JsonObject()
                .put("group", GROUP)
                .put("asset", "CNY")
                .put("kind", kind)
                .put("amount", amount)
                .put("count", count);
    }
}
