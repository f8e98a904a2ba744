/** What a newcomer may use in local. It is shown at start, on the first page and in the README, and is no secret. */
export function demoCredentials(baseUrl: string) {
  return {
    partner: {
      clientId: 'demo-partner',
      clientSecret: 'demo-partner-secret',
      scopes: 'openid profile phone',
      redirectUris: [`${baseUrl}/demo/callback`, 'http://localhost:4000/callback'],
      postLogoutRedirectUris: [`${baseUrl}/demo`, 'http://localhost:4000/'],
    },
    merchant: {
      merchantId: 'DEMOMERCHANT001',
      terminalId: 'DEMOTRM1',
      clientId: 'demo-merchant',
      clientSecret: 'demo-merchant-secret',
      returnUrlOrigins: [baseUrl, 'http://localhost:4000'],
    },
    people: [
      { phone: '+994500000001', about: 'verified, full profile, wallet of 500.00 AZN' },
      { phone: '+994500000002', about: 'not verified, empty profile' },
      { phone: '+994500000003', about: 'inactive' },
    ],
    oneTimeCode: '111111',
    cards: [
      { number: '4242 4242 4242 4242', about: 'approved' },
      { number: '4000 0000 0000 0002', about: 'declined' },
      { number: '4000 0000 0000 3220', about: '3-D Secure, code 1234, then approved' },
    ],
  };
}
