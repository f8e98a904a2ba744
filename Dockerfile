# Builds with everything, runs with what is needed: no compiler, no tests, no root, no embedded database.
FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci
COPY tsconfig.json ./
COPY scripts ./scripts
COPY src ./src
RUN npm run build && npm prune --omit=dev --omit=optional

FROM node:24-bookworm-slim
ENV NODE_ENV=production \
    TOLLGATE_ENV=production \
    HOST=0.0.0.0
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY migrations ./migrations
COPY LICENSE ./
USER node
EXPOSE 3000 9464
# Ready means: migrated, connected, not draining.
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.ADMIN_PORT ?? 9464}/health/ready`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# node itself gets SIGTERM and drains; a shell or npm in between would not pass it on.
ENTRYPOINT ["node", "--enable-source-maps"]
CMD ["dist/main.js"]
