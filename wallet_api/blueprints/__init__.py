"""The views, a module for each noun, with what the OpenAPI document shows of them."""
