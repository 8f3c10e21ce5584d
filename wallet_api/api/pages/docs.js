// Show the OpenAPI document of this server. The key of the demo is filled in; a key that is entered stays in this tab, over reloads, until it is closed.
"use strict";

const KEYS = "wallet-api.keys";

// The console has its dark colors under this class.
const dark = matchMedia("(prefers-color-scheme: dark)");
const followDark = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", followDark);
followDark();

// Extensions of the console: https://swagger.io/docs/open-source-tools/swagger-ui/customization/plugin-api/
const extensions = ({ React: { createElement: h } }) => {
  const keep = (original, { authSelectors }) => (change) => {
    original(change);
    sessionStorage.setItem(KEYS, JSON.stringify(authSelectors.authorized()));
  };
  const UnfocusedInput = (props) => h("input", { ...props, autoFocus: false });
  return {
    statePlugins: { auth: { wrapActions: { authorize: keep, logout: keep } } },
    wrapComponents: {
      // The rules for all operations are one line to open, so that the first screen shows an operation.
      OAS31Info: (Original, { getComponent }) => (props) => {
        const [purpose, ...rules] = props.specSelectors.selectInfoDescriptionField().split("\n\n");
        const specSelectors = { ...props.specSelectors, selectInfoDescriptionField: () => purpose };
        const text = h(getComponent("Markdown", true), { source: rules.join("\n\n") });
        const summary = h("summary", null, "Keys, errors, limits, pages, tables");
        const folded = h("details", { className: "rules" }, summary, text);
        return h("div", null, h(Original, { ...props, specSelectors }), folded);
      },
      // The key belongs in the header, so the dialog starts there.
      apiKeyAuth: (Original) => (props) => {
        const getComponent = (name, ...more) =>
          name === "Input" ? UnfocusedInput : props.getComponent(name, ...more);
        return h(Original, { ...props, getComponent });
      },
      // Each response is one line to open, and so are the headers within.
      response: (Original, { getComponent }) => (props) => {
        const description = h(getComponent("Markdown", true), { source: props.response.get("description") });
        const body = h("table", null, h("tbody", null, h(Original, props)));
        const summary = h("summary", null, h("strong", null, props.code), description);
        const folded = h("details", { open: props.code === "200" }, summary, body);
        return h("tr", { className: "folded" }, h("td", { colSpan: 2 }, folded));
      },
      headers: (Original) => (props) =>
        h("details", { className: "folded-headers" }, h("summary", null, "Headers"), h(Original, props)),
    },
  };
};

const ui = SwaggerUIBundle({
  url: "v1/openapi.json",
  dom_id: "#console",
  plugins: [extensions],
  deepLinking: true,
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  tryItOutEnabled: true,
  validatorUrl: null,
  // To where this page is, also behind a proxy that the service does not know of.
  requestInterceptor: (request) => {
    const place = request.url.indexOf("/v1/");
    if (place >= 0) request.url = new URL(request.url.slice(place + 1), document.baseURI).href;
    return request;
  },
  syntaxHighlight: { activated: true, theme: "obsidian" },
  onComplete: () => {
    const kept = sessionStorage.getItem(KEYS);
    const demo = document.querySelector(".demo");
    if (kept) ui.authActions.restoreAuthorization({ authorized: JSON.parse(kept) });
    else if (demo) ui.preauthorizeApiKey("bearer", demo.dataset.key);
  },
});
