# Image of ad-server: see "Container" in docs/operations.md.
#
#   docker build -t ad-server .
#   docker run -p 127.0.0.1:8080:8080 -v ad-data:/srv/data ad-server

FROM rust:1.94-slim-trixie AS build
WORKDIR /src
COPY . .
RUN cargo build --release --locked -p ad-server

FROM debian:trixie-slim
# Certificates: images are fetched over https.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --no-create-home --uid 10001 ad-server \
    && install --directory --owner=ad-server --group=ad-server --mode=0700 /srv/data
COPY --from=build /src/target/release/ad-server /usr/local/bin/ad-server

USER ad-server
# Everything that is kept is below ./data, as everywhere.
WORKDIR /srv
VOLUME /srv/data
ENV AD_SERVER_LISTEN=0.0.0.0:8080
EXPOSE 8080
# Metrics are for this container alone. To let others read them, set it to 0.0.0.0:9464 and publish that port to them only.
ENV AD_SERVER_METRICS_LISTEN=127.0.0.1:9464

# The port on which /healthz answers: 9464, that of metrics_listen, where the process serves no API or serves it over TLS.
ENV HEALTH_PORT=8080
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s CMD ["bash", "-c", \
    "exec 3<>/dev/tcp/127.0.0.1/$HEALTH_PORT && printf 'GET /healthz HTTP/1.0\\r\\n\\r\\n' >&3 && grep -q '\"ok\"' <&3"]

# SIGTERM drains, which may take 20 seconds: stop it with `docker stop --time 40`.
ENTRYPOINT ["ad-server"]
CMD ["serve"]
