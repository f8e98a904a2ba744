import type { PayTexts } from './pay-texts.ts';

export const en: PayTexts = {
  languageChoice: 'Choice of language',
  failed: (title) => `Error: ${title}`,
  documentTitle: (shop) => `Pay ${shop}`,
  toPay: 'Amount to pay',
  order: (id) => `Order ${id}`,
  secured: 'Secured by Tollgate. The shop never sees your card number.',
  test: 'Test mode: no real money moves.',
  time: {
    left: (minutes) => (minutes > 1 ? `You have ${minutes} minutes to pay.` : 'You have one minute to pay.'),
    clock: 'Time left: {time}',
    soon: 'The time is nearly up.',
    more: 'I need more time',
    given: 'You have more time now.',
    notGiven: 'That did not work. Try again.',
  },
  card: {
    or: 'or pay by card',
    fields: {
      number: {
        label: 'Card number',
        missing: 'Enter the card number.',
        invalid: 'Check the number: a digit is wrong or missing.',
      },
      expiry: {
        label: 'Expiry date',
        hint: 'Month and year, such as 03/29',
        missing: 'Enter the expiry date.',
        invalid: 'Write the month and the year, such as 03/29.',
        past: 'This card has expired. Check the date, or take another card.',
      },
      csc: {
        label: 'Security code',
        hint: '3 digits on the back of the card',
        missing: 'Enter the security code.',
        invalid: 'Check the code: 3 digits on the back, or 4 on the front of an American Express card.',
      },
      holder: {
        label: 'Name on the card',
        missing: 'Enter the name on the card.',
        invalid: 'This name is too long: 100 characters at most.',
      },
    },
    cscOnFront: '4 digits on the front of the card',
    faults: { one: 'One field needs your attention', more: '{count} fields need your attention' },
    pay: (amount) => `Pay ${amount}`,
    attemptsLeft: (count) => (count === 1 ? 'One try is left.' : `${count} tries are left.`),
  },
  declined: {
    general_decline: {
      title: 'Your bank declined the payment',
      text: 'It gave no reason. No money was taken. Try another card, or ask your bank.',
    },
    insufficient_funds: {
      title: 'There is not enough money on the card',
      text: 'No money was taken. Top the card up, or pay with another one.',
    },
    card_expired: {
      title: 'The card has expired',
      text: 'No money was taken. Check the date, or pay with another card.',
    },
    invalid_card_number: {
      title: 'The bank does not know this card',
      text: 'No money was taken. Check the number and enter it again.',
    },
    invalid_csc: {
      title: 'The security code did not match',
      text: 'No money was taken. Check the code on the card and enter it again.',
    },
    '3d_secure_failed': {
      title: 'Your bank did not confirm the payment',
      text: 'No money was taken. Try again: your bank will ask you for a code.',
    },
    fraud_suspected: {
      title: 'Your bank stopped the payment for safety',
      text: 'No money was taken. Do not try this card again: call your bank, or pay with another card.',
    },
    issuer_unavailable: {
      title: 'Your bank does not answer',
      text: 'No money was taken. Try again in a few minutes, or pay with another card.',
    },
    payment_method_restricted: {
      title: 'This card cannot be used here',
      text: 'No money was taken. Pay with another card.',
    },
    rejected_by_payee: {
      title: 'The shop did not accept this payment',
      text: 'No money was taken. Please contact the shop.',
    },
  },
  failedAttempt: {
    title: 'The payment did not go through',
    text: 'It did not reach your bank, and no money was taken. Please try again.',
  },
  wallet: {
    pay: 'Pay from your wallet',
    about: 'Sign in with your phone number and pay from your Tollgate wallet.',
    title: 'Pay from your wallet',
    whose: 'Whose wallet',
    balance: 'Balance',
    afterwards: 'Left afterwards',
    confirm: (amount) => `Pay ${amount}`,
    tooLittle: {
      title: 'There is not enough money in the wallet',
      text: 'No money was taken.',
    },
    byCard: 'Pay by card',
    orCard: 'You can also pay by card.',
    anotherPerson: 'Sign in with another number',
    back: 'Back',
    notSignedIn: {
      title: 'You did not finish signing in',
      text: 'No money was taken. Sign in again.',
    },
    unavailable: {
      title: 'The wallet cannot be reached',
      text: 'No money was taken. Try again in a moment.',
    },
  },
  bank: {
    title: 'Your bank asks for confirmation',
    text: 'Confirm the payment on the page of your bank; then you come back here. No money is taken before you confirm.',
    go: 'Continue to your bank',
    lapses: 'If you do not confirm it, this try ends by itself after 10 minutes and no money is taken.',
  },
  waiting: {
    title: 'We are asking your bank',
    text: 'It has not answered yet. Do not pay again: the outcome will show here as soon as it is known.',
    again: 'This page looks again by itself. You may close it; nothing is lost.',
    look: 'Look now',
  },
  giveUp: {
    link: 'Cancel the payment',
    title: 'Cancel the payment?',
    text: 'It will be canceled and no money will be taken. You cannot pay by this link any more.',
    yes: 'Yes, cancel it',
    no: 'No, go back to paying',
  },
  paid: { title: 'Paid', text: (shop) => `Your payment to ${shop} was accepted. Thank you!` },
  reserved: {
    title: 'Payment confirmed',
    text: (shop) => `The amount is reserved. It will be charged when ${shop} confirms your order.`,
  },
  canceled: {
    expired_on_confirmation: {
      title: 'The time to pay is over',
      text: 'No money was taken. Go back to the shop and order again.',
    },
    canceled_by_merchant: {
      title: 'The shop canceled the payment',
      text: 'No money was taken. The shop can tell you why.',
    },
    canceled_by_customer: {
      title: 'Payment canceled',
      text: 'You canceled the payment. No money was taken.',
    },
    attempts_exhausted: {
      title: 'The payment did not go through',
      text: 'All tries are used up. No money was taken. Go back to the shop and start again.',
    },
    expired_on_capture: {
      title: 'Payment canceled',
      text: 'The shop did not confirm the order in time. No money was taken.',
    },
  },
  notPaid: {
    title: 'The payment did not go through',
    text: 'No money was taken. Go back to the shop and start again.',
  },
  released: {
    card: 'The reserved amount is being released. Your bank may take a few days to show it.',
    wallet: 'The reserved amount is back in the wallet.',
  },
  receipt: {
    amount: 'Amount',
    method: 'Paid with',
    payment: 'Payment number',
    reserved: 'Reserved before',
    refunded: 'Refunded',
    wallet: 'Wallet',
  },
  leave: {
    back: (shop) => `Back to ${shop}`,
    countdown: 'You go back to the shop in {seconds} s.',
    soon: 'You go back to the shop in a few seconds.',
    stay: 'Stay on this page',
  },
  unknownLink: {
    title: 'Payment not found',
    text: 'This link leads to no payment. Open the link from the shop again.',
  },
  cookieLost: {
    title: 'Your sign-in was not kept',
    text: 'Your browser did not remember it. Open the link from the shop again, or pay by card.',
  },
  closed: {
    title: 'This shop does not take payments at the moment',
    text: 'This payment was not made and no money was taken. Please contact the shop.',
  },
  trouble: {
    title: 'We cannot tell at the moment',
    text: 'Do not pay again: look here in a moment. If the payment went through, it will show.',
    look: 'Look at the payment',
  },
};
