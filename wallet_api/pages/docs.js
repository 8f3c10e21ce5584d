// Show the OpenAPI document of this server. An API key that is entered is not stored and is lost on reload.
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
