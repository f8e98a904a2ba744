import { productName } from '../../platform/languages.ts';
import type { Texts } from './texts.ts';
import { inWords } from './time-in-words.ts';

export const en: Texts = {
  languageChoice: 'Choice of language',
  tagline: 'One number for all your services',
  failed: (title) => `Error: ${title}`,
  requestId: 'Request number',
  phone: {
    title: 'Sign in',
    documentTitle: (client) => `Sign in to ${client}`,
    lead: (client) => `You are signing in to ${client}.`,
    label: 'Phone number',
    example: 'For example, +994 50 123 45 67.',
    smsNotice: 'We will send a 6-digit code to this number by SMS.',
    submit: 'Get a code by SMS',
    cancel: 'Cancel and go back',
    missing: { title: 'The number is missing', text: 'Enter your phone number.' },
    malformed: {
      title: 'Check the number',
      text: 'This does not look like a phone number. Write it with the country code.',
    },
    countryNotServed: {
      title: 'Numbers of this country are not accepted',
      text: 'Enter another number.',
    },
  },
  sending: {
    tooManyCodes: (waitSeconds) => ({
      title: 'Too many codes were requested',
      text: `You can ask for a new code in ${enDuration(waitSeconds)}.`,
    }),
    unavailable: {
      title: 'We cannot send an SMS right now',
      text: 'Please try again in a few minutes.',
    },
  },
  code: {
    title: 'Enter the code',
    sentTo: (phone) => `We sent a 6-digit code by SMS to ${phone}.`,
    validFor: (minutes) => `The code is valid for ${enCount(minutes, 'minute')}.`,
    label: 'Code from the SMS',
    sixDigits: '6 digits',
    automatic: 'We continue automatically once all 6 digits are in.',
    submit: 'Sign in',
    keepSecret: 'Do not tell this code to anyone. Our staff will never ask for it.',
    notArrived: 'No code yet?',
    resendIn: (seconds) => `You can ask for a new code in ${enDuration(seconds)}.`,
    resendCountdown: 'You can ask for a new code in {time}',
    resendReady: 'You can ask for a new code now.',
    resend: 'Send a new code',
    anotherNumber: 'Use another number',
    malformed: {
      title: 'The code is not complete',
      text: 'Enter all 6 digits from the SMS.',
    },
    wrong: (attemptsLeft) => ({
      title: 'The code is not correct',
      text:
        attemptsLeft > 0
          ? `Check the SMS and try again. You have ${enCount(attemptsLeft, 'attempt')} left.`
          : 'No attempts are left. Ask for a new code below.',
    }),
    expired: {
      title: 'The code is no longer valid',
      text: 'Ask for a new code below.',
    },
    tooManyAttempts: (waitSeconds) => ({
      title: 'Too many attempts',
      text: `To keep you safe, we ask you to wait. Try again in ${enDuration(waitSeconds)}.`,
    }),
    alreadyOnItsWay: 'A code is already on its way. It may take up to a minute to arrive.',
    sentAgain: 'We sent a new code. The earlier one is no longer valid.',
  },
  consent: {
    title: 'Share your information?',
    documentTitle: (client) => `Consent for ${client}`,
    lead: (client) => `${client} asks for this information:`,
    account: (phone) => `Account: ${phone}`,
    scopes: {
      openid: { name: 'Your account identifier', about: 'So that the service recognises you next time.' },
      profile: {
        name: 'Your profile',
        about:
          'First and last name, father’s name, date of birth, gender, residency, profile picture and verification status.',
      },
      phone: { name: 'Your phone number', about: 'The number that you sign in with.' },
    },
    documents: {
      name: 'Identity documents',
      tag: 'Sensitive',
      list: ['Personal identification number (FIN)', 'Identity card number'],
      about: 'Allow this only if you trust the service.',
    },
    lasting: (hours) =>
      `The service can read this only while you are signed in, for at most ${enCount(hours, 'hour')}.`,
    remembered: 'We remember your choice and ask again only when more is asked for.',
    denied: (client) => `If you deny, nothing is shared and you return to ${client}.`,
    allow: 'Allow',
    deny: 'Deny',
  },
  messages: {
    unknown_client: {
      title: 'We do not know this service',
      text: 'The service that sent you here is not registered with us. Please contact its support team.',
    },
    bad_redirect: {
      title: 'Sign-in was stopped',
      text: 'The return address that the service gave is not registered with us. To protect your information, we do not send you there.',
    },
    bad_request: {
      title: 'This link does not work',
      text: 'The request is incomplete or damaged. Go back to the service that you were using and try again.',
    },
    page_expired: {
      title: 'This page has expired',
      text: 'It was open for too long. Please start signing in again.',
    },
    other_browser: {
      title: 'Sign-in began in another browser',
      text: 'Continue in the browser where you began, or start again here.',
    },
    account_inactive: {
      title: 'The account is not active',
      text: 'It is not possible to sign in with this account right now. Please contact support for help.',
    },
    registration_closed: {
      title: 'It is not possible to sign in with this number',
      text: 'New accounts are not being opened at present. If you have an account, sign in with its number.',
    },
    too_many_requests: {
      title: 'Too many requests',
      text: 'To keep everyone safe, we ask you to wait a little.',
    },
    sms_unavailable: {
      title: 'We cannot send an SMS right now',
      text: 'We are working on it. Please try again in a few minutes.',
    },
    fault: {
      title: 'Something went wrong',
      text: 'The problem is on our side. Please try again in a moment.',
    },
  },
  tryAgainIn: (waitSeconds) => `Please try again in ${enDuration(waitSeconds)}.`,
  actions: {
    startAgain: 'Start again',
    anotherNumber: 'Use another number',
    backTo: (client) => `Return to ${client}`,
  },
  logout: {
    title: 'Do you want to sign out?',
    text: `You will be signed out of every service that you entered with ${productName} in this browser.`,
    account: (phone) => `Account: ${phone}`,
    submit: 'Sign out',
    stay: 'Stay signed in',
    doneTitle: 'You are signed out',
    doneText: 'You can close this page.',
  },
};

function enDuration(seconds: number): string {
  const { count, unit } = inWords(seconds);
  return enCount(count, unit);
}

function enCount(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
