# Image of ad-server; see "Container" in docs/operations.md.
#
#   docker build -t ad-server .
#   docker run -p 127.0.0.1:8080:8080 -v ad-data:/srv/data ad-server

FROM rust:1.94-slim-trixie@sha256:cf09adf8c3ebaba10779e5c23ff7fe4df4cccdab8a91f199b0c142c53fef3e1a AS build
WORKDIR /src
COPY . .
RUN cargo build --release --locked -p ad-server --features full

FROM debian:trixie-20260918-slim@sha256:a99cfc517144bc59b1978475ec53b46ecabec7e43635402ee5b77cc54cd1b20a
# Certificates, to fetch images over https.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --no-create-home --uid 10001 ad-server \
    && install --directory --owner=ad-server --group=ad-server --mode=0700 /srv/data
COPY --from=build /src/target/release/ad-server /usr/local/bin/ad-server

USER ad-server
# Data is stored in ./data by default.
WORKDIR /srv
VOLUME /srv/data
ENV AD_SERVER_LISTEN=0.0.0.0:8080
EXPOSE 8080
# SQLite frees memory at the end of each transaction. With these, glibc keeps it for the next one.
ENV MALLOC_TRIM_THRESHOLD_=67108864
ENV MALLOC_TOP_PAD_=1048576
# Metrics are served within the container only. For Prometheus, set this to 0.0.0.0:9464 and publish the port to it alone.
ENV AD_SERVER_METRICS_LISTEN=127.0.0.1:9464

# Port of /healthz. Set it to 9464, the port of metrics_listen, if the process serves no API or serves it over TLS.
ENV HEALTH_PORT=8080
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s CMD ["bash", "-c", \
    "exec 3<>/dev/tcp/127.0.0.1/$HEALTH_PORT && printf 'GET /healthz HTTP/1.0\\r\\n\\r\\n' >&3 && grep -q '\"ok\"' <&3"]

# A graceful shutdown on SIGTERM takes up to 20 seconds: stop the container with `docker stop --time 40`.
ENTRYPOINT ["ad-server"]
CMD ["serve"]
