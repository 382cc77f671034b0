package dev.hongbao.tools.demo;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Which packets the demo sends: all kinds in turn, some that nobody can drain, so that a remainder goes back. */
final class DemoPlan {
    static final String GROUP = "demo";
    static final String PASSCODE = "恭喜发财";
    private static final int RECIPIENTS = 20;
    private static final int SHORT_EXPIRY_SECONDS = 2;
    private static final String SURNAMES = "王李张刘陈杨黄赵吴周徐孙马朱胡郭何林高罗";
    private static final List<String> GIVEN = List.of("芳", "伟", "敏", "静", "磊", "洋", "艳", "勇", "娟", "涛");

    private DemoPlan() {}

    /**
     * One packet to send.
     *
     * @param passcode that claimers must give; null for none
     * @param expires whether it has more shares than members, and so ends with a refund
     */
    record PlannedPacket(
            String sender, JsonObject body, @Nullable String passcode, boolean expires, int eligible) {}

    /** What the members are called: 200 names, each of a surname and a given name. @param member from 0 */
    static String nameOf(int member) {
        return SURNAMES.substring(member % 20, member % 20 + 1) + GIVEN.get(member / 20 % GIVEN.size());
    }

    static List<PlannedPacket> of(int packets, List<String> members) {
        List<PlannedPacket> plannedPackets = new ArrayList<>();
        for (int i = 0; i < packets; i++) {
            String sender = members.get(i % 12);
            JsonObject body =
                    new JsonObject().put("group", GROUP).put("asset", "CNY").put("greeting", "第 " + (i + 1) + " 个红包");
            plannedPackets.add(planned(i, sender, body, members));
        }
        return plannedPackets;
    }

    private static PlannedPacket planned(int i, String sender, JsonObject body, List<String> members) {
        int everyone = members.size();
        switch (i % 6) {
            case 0:
                return new PlannedPacket(sender, lucky(body, 8_888, 88, "double-mean"), null, false, everyone);
            case 1:
                return new PlannedPacket(sender, lucky(body, 6_666, 66, "inflate"), null, false, everyone);
            case 2:
                return new PlannedPacket(
                        sender, lucky(body, 5_200, 52, "even-luck").put("max", 1_000), null, false, everyone);
            case 3:
                return new PlannedPacket(
                        sender, body.put("kind", "equal").put("amount", 5_000).put("count", 50), null, false, everyone);
            case 4:
                List<String> named = members.subList(everyone - RECIPIENTS, everyone);
                body.put("kind", "exclusive")
                        .put("amount", 2_000)
                        .put("count", RECIPIENTS / 2)
                        .put("recipients", new JsonArray(List.copyOf(named)));
                return new PlannedPacket(
                        sender, body, null, false, Set.copyOf(named).size());
            default:
                lucky(body, 10_000, everyone + 50, "double-mean")
                        .put("passcode", PASSCODE)
                        .put("expiresInSeconds", SHORT_EXPIRY_SECONDS);
                return new PlannedPacket(sender, body, PASSCODE, true, everyone);
        }
    }

    private static JsonObject lucky(JsonObject body, long amount, int count, String split) {
        return body.put("kind", "lucky")
                .put("amount", amount)
                .put("count", count)
                .put("split", split);
    }
}
