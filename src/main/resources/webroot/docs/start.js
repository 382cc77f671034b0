// The contract's paths begin at the root of the server, which a proxy may have mounted below a path.
const root = new URL('.', location.href);

/** Headings of Swagger UI that skip a level, with the level that they have. */
const LEVELS = { 'h3.opblock-tag': 2, '.models > h4': 2, '.modal-ux-header h3': 2, '.modal-ux h4': 3, '.opblock h4': 3, '.opblock h5': 4 };
/** Names for the elements that Swagger UI leaves unnamed. */
const NAMES = {
  '#servers': 'Server', '.examples-select-element': 'Example', '.body-param__text': 'Request body', '.close-modal': 'Close',
  '.information-container': 'About', '.scheme-container': 'Server and key',
};

/** Adds what Swagger UI leaves out, each time that it has drawn. */
function mend() {
  const set = (selector, name, value) => document.querySelectorAll(`.swagger-ui :is(${selector})`).forEach((element) => element.setAttribute(name, value));
  set('.information-container, .scheme-container', 'role', 'region');
  set('.microlight', 'tabindex', '0'); // it scrolls
  Object.entries(LEVELS).forEach(([selector, level]) => set(selector, 'aria-level', level));
  Object.entries(NAMES).forEach(([selector, text]) => set(selector, 'aria-label', text));
  document.querySelectorAll('.swagger-ui .opblock').forEach((call) => {
    const name = call.querySelector('.opblock-summary-method').textContent + ' ' + call.querySelector('.opblock-summary-path').dataset.path;
    call.querySelector('.responses-table')?.setAttribute('aria-label', `Responses of ${name}`);
  });
}
new MutationObserver(mend).observe(document.getElementById('swagger-ui'), { childList: true, subtree: true });

window.ui = SwaggerUIBundle({
  url: 'openapi.yaml',
  dom_id: '#swagger-ui',
  tryItOutEnabled: true,
  validatorUrl: null,
  requestInterceptor: (request) => {
    request.url = request.url.replace(new URL('/v1/', root).href, new URL('v1/', root).href);
    return request;
  }
});
