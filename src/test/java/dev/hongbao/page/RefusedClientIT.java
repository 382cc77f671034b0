package dev.hongbao.page;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** {@code hongbao-client.js} in a browser, when the server refuses: the program that uses it hears why, at once. */
class RefusedClientIT extends PageUse {
    @Override
    String group() {
        return DEMO;
    }

    @AfterEach
    void refusalsAreToldOnTheConsole() throws Exception {
        family.unblock("demo-mei");
        mei.browser().complaints();
    }

    @Test
    void aBlockedUserAndAnAmountThatIsNoWholeNumberAreTold() throws Exception {
        // Given a member at the page, and another client of hers, which could always get another token
        mei.enter(home.base, "demo-mei");
        Browser page = mei.browser();
        page.js("""
                const { token } = JSON.parse(sessionStorage.getItem('hongbao.session'));
                window.states = [];
                window.kinds = {};
                window.note = (name, promise) => promise.catch(({ kind }) => { window.kinds[name] = kind; });
                import('/hongbao-client.js').then(({ connect }) => {
                  window.start = () => connect({
                    token: async () => token,
                    onState: (state, why) => window.states.push(why ? `${state} ${why}` : state),
                  });
                  window.one = window.start();
                });
                """);
        page.seeTrue("return window.states.at(-1) === 'open'");

        // When an amount has a fraction, then that send is refused, and the connection stays
        page.js("note('fraction', one.send({ group: 'demo', kind: 'equal', asset: 'CNY', amount: 8.88, count: 1 }))");
        page.seeTrue("return kinds.fraction === 'invalid-request'");
        assertThat(page.js("return states.join()")).isEqualTo("connecting,open");

        // When the host blocks her, then both are closed for good
        family.block("demo-mei");
        page.see("[data-line=closed]");
        page.seeTrue("return states.at(-1) === 'closed blocked'");
        page.js("note('later', one.ping())");
        page.seeTrue("return kinds.later === 'blocked'");

        // And so is a client that comes now
        page.js("states.length = 0; window.two = start(); note('join', two.join('demo', { onEvent: () => {} }))");
        page.seeTrue("return kinds.join === 'blocked'");
        assertThat(page.js("return states.join()")).isEqualTo("connecting,closed blocked");
    }
}
