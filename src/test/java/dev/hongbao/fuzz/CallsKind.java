package dev.hongbao.fuzz;

import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonObject;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Every call of the contract with right, nearly right and wrong values, some after the other on one connection. */
final class CallsKind implements Kind {
    /** More waits in no buffer of a connection. */
    private static final int PIPELINED_BYTES = 48 * 1024;

    private static final Map<String, String> MADE = Map.of(
            "createDraw", "draw",
            "createCampaign", "campaign",
            "createRain", "rain",
            "createWebhook", "webhook",
            "sendPacket", "packet",
            "sendPacketForUser", "packet",
            "openPool", "packet",
            "deposit", "transfer");

    private final ContractText contract;
    private final World world;
    private final CallRequests requests;

    CallsKind(ContractText contract, World world, Hostile hostile) {
        this.contract = contract;
        this.world = world;
        this.requests = new CallRequests(contract, world, hostile, "h");
    }

    @Override
    public String name() {
        return "calls";
    }

    @Override
    public int share() {
        return 34;
    }

    @Override
    public int batch() {
        return 32;
    }

    /** An input as it goes out. */
    private record Sent(Input input, ContractText.Call call, Request request, byte[] bytes) {}

    @Override
    public void send(List<Input> inputs, Findings findings) throws IOException {
        List<Sent> waiting = new ArrayList<>();
        for (Input input : inputs) {
            ContractText.Call call = input.pick(contract.calls());
            Request request = requests.of(input, call);
            waiting.add(new Sent(input, call, request, request.bytes()));
        }
        while (!waiting.isEmpty()) {
            waiting = waiting.subList(onOneConnection(waiting, findings), waiting.size());
        }
    }

    /** @return how many were answered, or lost their connection */
    private int onOneConnection(List<Sent> waiting, Findings findings) throws IOException {
        int done = 0;
        try (Line line = new Line(world.port())) {
            List<Sent> together = together(waiting);
            ByteArrayOutputStream all = new ByteArrayOutputStream();
            together.forEach(sent -> all.writeBytes(sent.bytes));
            line.send(all.toByteArray());
            for (Sent sent : together) {
                done++;
                Answer answer = line.read(sent.request.isHead());
                if (answer == null) {
                    findings.count(sent.input, "closed");
                    return done;
                }
                judge(sent, answer, findings);
                if (answer.isLast()) {
                    return done;
                }
            }
            return done;
        } catch (SocketTimeoutException hangs) {
            return lost(waiting.get(done - 1), "no answer within " + Line.LIMIT_MILLIS + " ms", done, findings);
        } catch (EOFException half) {
            return lost(waiting.get(done - 1), half.getMessage(), done, findings);
        }
    }

    private static int lost(Sent sent, String what, int done, Findings findings) {
        findings.found(sent.input, what, sent.request.toString());
        return done;
    }

    private static List<Sent> together(List<Sent> waiting) {
        int bytes = 0;
        for (int i = 0; i < waiting.size(); i++) {
            bytes += waiting.get(i).bytes.length;
            if (i > 0 && bytes > PIPELINED_BYTES) {
                return waiting.subList(0, i);
            }
        }
        return waiting;
    }

    private void judge(Sent sent, Answer answer, Findings findings) {
        findings.count(sent.input, Integer.toString(answer.status()));
        String fault = sent.request.isHead() ? null : Oracle.fault(answer);
        if (fault != null) {
            findings.found(sent.input, fault, sent.request.toString());
        }
        String made = MADE.get(sent.call.id());
        if (made != null && answer.status() == 201) {
            try {
                world.learn(made, new JsonObject(answer.body()));
            } catch (DecodeException none) {
                findings.found(sent.input, "201 without JSON: " + answer.body(), sent.request.toString());
            }
        }
    }
}
