/** The old name of server.ts, until the last test that imports it has changed. */
export * from './server.ts';
