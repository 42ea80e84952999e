# One image for every process of ours: `docker run … airproof pipeline`, `… api`.
FROM node:26-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# The image brings Node itself, so the optional packages that carry one stay out.
RUN npm ci --omit=dev --omit=optional --ignore-scripts

FROM node:26-slim AS pages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
# `.dockerignore` says what is not part of the product.
COPY . .
RUN npm run build

FROM node:26-slim
WORKDIR /app
ENV NODE_ENV=production AIRPROOF_DATA=/data
COPY --from=dependencies /app/node_modules node_modules
COPY . .
# `--build-arg COMMIT=$(git rev-parse HEAD)`: what `--version` says.
ARG COMMIT=''
RUN if [ -n "$COMMIT" ]; then npm pkg set commit="$COMMIT"; fi
COPY --from=pages /app/dashboard/web/dist dashboard/web/dist
# The reference of the API, /v1/docs.
COPY --from=pages /app/node_modules/swagger-ui-dist/swagger-ui.css /app/node_modules/swagger-ui-dist/swagger-ui-bundle.js node_modules/swagger-ui-dist/
# What a process must remember over a restart (its id) lives here; the rest of the image is
# never written to.
RUN mkdir -p /data/archive && chown -R node:node /data
VOLUME /data
USER node
ENTRYPOINT ["node", "bin/airproof.mjs"]
