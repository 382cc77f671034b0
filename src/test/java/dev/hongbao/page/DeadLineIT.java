package dev.hongbao.page;

import static dev.hongbao.page.Visitor.row;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.tools.local.LossyProxy;
import io.vertx.core.json.JsonObject;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Lines that die without a word: the page's server stands behind a proxy that swallows what it is given. */
class DeadLineIT extends PageUse {
    private LossyProxy line;
    private URI behindIt;

    @Override
    String group() {
        return DEMO;
    }

    @BeforeAll
    void layTheLine() throws Exception {
        int port = home.base.getPort();
        behindIt = URI.create("http://localhost:" + port);
        line = new LossyProxy(new ServerSocket(port, 50, InetAddress.getByName(Browser.BESIDE)), "127.0.0.1", port);
    }

    @AfterEach
    void leaveTheLine() {
        mei.browser().leave();
        line.breakConnections(); // else the browser would ask for the next page over one of the silent ones
        mei.browser().complaints(); // a line that breaks is told on the console
    }

    @AfterAll
    void cutTheLine() throws Exception {
        line.close();
    }

    /** As a visitor sees it, at the page's own pace. */
    @Test
    @Tag("long")
    void aLineThatDiedWithoutAWordIsNoticedAndWhatWasSentIntoItHappensOnce() throws Exception {
        // Given a member whose line swallows everything from now on
        mei.enter(behindIt, "demo-mei");
        Browser page = mei.browser();
        line.fallSilent();

        // When she sends a packet into it, and her browser says that it is online again
        page.click(".send");
        page.type("input[name=greeting]", "into the dark");
        page.click(".submit");
        page.js("window.dispatchEvent(new Event('online'))");

        // Then the page says that the line is lost
        page.see(".line:not([data-line=open])");
        assertThat(page.see(".line").getText()).contains("reconnecting");
        page.screenshot("line-lost");

        // And with another line it goes on by itself, with all that was sent, once
        String meanwhile = family.send("demo-fang", "meanwhile", new JsonObject());
        line.comeBack();
        page.js("window.dispatchEvent(new Event('online'))");
        page.see("[data-line=open]");
        String sent = mei.seePacket("into the dark");
        mei.seeState(meanwhile, "open");
        page.seeNo("dialog");
        ben.enter(home.base, "demo-ben");
        ben.seeState(sent, "open");
        for (Browser each : new Browser[] {page, ben.browser()}) {
            assertThat(each.count("article[aria-label$='into the dark']")).isEqualTo(1);
            assertThat(each.count(row(meanwhile))).isEqualTo(1);
        }
    }

    /** The client alone, with small bounds: what a test of the page would wait half a minute for. */
    @Test
    void aMissedPongAnUnansweredRequestAndALostAnswerAreEachGotOver() throws Exception {
        // Given a client behind the line
        mei.knock(behindIt);
        Browser page = mei.browser();
        page.js("""
                const [token] = arguments;
                window.states = [];
                window.packets = [];
                window.done = {};
                import('/hongbao-client.js').then(({ connect }) => {
                  const start = (bounds) => connect({ token, onState: (state) => window.states.push(state), ...bounds });
                  window.start = start;
                });
                """, family.session("demo-mei").getString("token"));
        awaitTrue(page, "window.start");

        // When nothing comes back, a heartbeat notices; nobody does anything
        page.js("window.one = window.start({ heartbeatMillis: 200, pongMillis: 1000 });"
                + "window.one.join('demo', { packets: 0, onEvent: ({ data }) => window.packets.push(data.packet.id) })"
                + ".then(() => { window.states.length = 0; window.done.joined = true; })");
        awaitTrue(page, "done.joined");
        line.swallow();
        awaitTrue(page, "states.slice(0, 3).join() === 'waiting,connecting,open'");

        // Then the feed goes on, and each event is told once
        String packet = family.send("demo-lei", "after the heartbeat", new JsonObject().put("count", 5));
        awaitTrue(page, "packets.join() === '" + packet + "'");
        page.js("window.one.close()");

        // When a claim is swallowed, it is asked for again on another line
        page.js("window.two = window.start({ heartbeatMillis: 1e6, answerMillis: 800 })");
        awaitTrue(page, "states.at(-1) === 'open'");
        line.swallow();
        page.js("window.two.claim('" + packet + "').then(({ amount }) => { window.done.claim = amount; })");
        awaitTrue(page, "done.claim > 0");

        // When a send arrives, but its answer is lost with the line, its repetition is the same send
        long before = family.balance("demo-mei");
        line.loseAnswers();
        page.js("window.two.send({ group: 'demo', kind: 'equal', asset: 'CNY', amount: 77, count: 1 })"
                + ".then(({ id }) => { window.done.sent = id; })");
        awaitTrue(page, "done.sent");
        assertThat(line.lost()).isPositive();
        assertThat(family.balance("demo-mei")).isEqualTo(before - 77);

        // and so is an opening's, of a campaign that has money for one more pool
        String pool = family.openPool("demo-lei", "Spring shoes", "sku-1");
        line.loseAnswers();
        page.js(
                "window.two.open({ campaign: '" + family.campaignOf("demo-lei", pool)
                        + "', product: 'sku-2', group: 'demo' }).then(({ campaign }) => { window.done.opened = campaign.openedBy; })");
        awaitTrue(page, "done.opened === 'demo-mei'");

        // When more is asked for at once than the server reads in a second, and the line breaks in between, each thing
        // happens once
        page.js("""
                window.told = [];
                window.busy = 0;
                const handled = () => new Promise((resolve) => setTimeout(resolve, 10));
                window.two.join('demo', {
                  packets: 0,
                  onEvent: async ({ type, data }) => {
                    if (window.busy++) window.done.overlap = true;
                    await handled();
                    if (type === 'packet.sent') window.told.push(data.packet.id);
                    window.busy--;
                  },
                }).then(() => Promise.all(Array.from({ length: 30 }, () => (
                  window.two.send({ group: 'demo', kind: 'equal', asset: 'CNY', amount: 1, count: 1 }))))).then((packets) => {
                  window.done.many = packets.map(({ id }) => id).sort().join();
                });
                """);
        awaitTrue(page, "told.length > 5");
        line.breakConnections();
        awaitTrue(page, "done.many && told.length === 30");
        assertThat(page.js("return told.sort().join() === done.many && !done.overlap"))
                .isEqualTo(true);

        // When it is closed, then what waits is refused, and nothing comes back to life
        line.swallow();
        page.js("window.two.ping().catch(({ kind }) => { window.done.ping = kind; }); window.two.close();"
                + "window.states.length = 0; window.dispatchEvent(new Event('online'))");
        awaitTrue(page, "done.ping === 'disconnected'");
        assertThat(page.js("return states.length")).isEqualTo(0L);
    }

    private static void awaitTrue(Browser page, String expression) {
        page.seeTrue("return Boolean(" + expression + ")");
    }
}
