# The command stint, for "stint serve" and "stint work":
#
#     docker build -t stint .
#     docker run -e STINT_TOKEN -p 4222:4222 -v stint:/var/lib/stint stint serve --listen :4222 --dir /var/lib/stint
#     docker run -e STINT_TOKEN -v /srv:/srv:ro stint work --cluster nats://HOST:4222 --root /srv
#
# The image has no shell and no programs: "work --run" needs an image of your own with
# the programs of your jobs.
FROM golang:1.26 AS build
WORKDIR /src
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -o /stint ./cmd/stint && mkdir /state

FROM gcr.io/distroless/static:nonroot
COPY --from=build /stint /usr/bin/stint
COPY --from=build --chown=65532:65532 /state /var/lib/stint
USER 65532:65532
ENTRYPOINT ["/usr/bin/stint"]
