// Starts the console on the document of this very server. A key typed in stays in this tab.
"use strict";

SwaggerUIBundle({
  url: "v1/openapi.json",
  dom_id: "#console",
  deepLinking: true,
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  persistAuthorization: false,
  tryItOutEnabled: true,
  validatorUrl: null,
  syntaxHighlight: { activated: true, theme: "obsidian" },
});
