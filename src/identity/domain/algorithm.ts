export const algorithms = ['ES256', 'EdDSA', 'RS256'] as const;
export type Algorithm = (typeof algorithms)[number];
