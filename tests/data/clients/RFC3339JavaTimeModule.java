package org.openapitools.client;

public class RFC3339JavaTimeModule extends com.fasterxml.jackson.databind.module.SimpleModule {}
