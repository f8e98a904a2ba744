import type { Language } from '../../platform/languages.ts';
import type { Explanation } from '../../platform/page-parts.tsx';
import type { DeclineReason } from '../domain/acquirer.ts';
import type { CardFault, CardField } from '../domain/card-form.ts';
import type { CancelReason } from '../domain/payment.ts';

type FieldTexts = { label: string; hint?: string } & Partial<Record<CardFault, string>> & { missing: string };

export type PayTexts = {
  languageChoice: string;
  failed: (title: string) => string;
  documentTitle: (shop: string) => string;
  toPay: string;
  order: (id: string) => string;
  secured: string;
  test: string;
  time: {
    left: (minutes: number) => string;
    /** `{time}` stands for a clock such as 9:42; the script of the page writes it. */
    clock: string;
    soon: string;
    more: string;
    given: string;
    notGiven: string;
  };
  card: {
    or: string;
    fields: Record<CardField, FieldTexts>;
    cscOnFront: string;
    /** `{count}` is how many fields. */
    faults: { one: string; more: string };
    pay: (amount: string) => string;
    attemptsLeft: (count: number) => string;
  };
  declined: Record<DeclineReason, Explanation>;
  failedAttempt: Explanation;
  wallet: {
    pay: string;
    about: string;
    title: string;
    whose: string;
    balance: string;
    afterwards: string;
    confirm: (amount: string) => string;
    tooLittle: Explanation;
    byCard: string;
    orCard: string;
    anotherPerson: string;
    back: string;
    notSignedIn: Explanation;
    unavailable: Explanation;
  };
  bank: { title: string; text: string; go: string; lapses: string };
  waiting: { title: string; text: string; again: string; look: string };
  giveUp: { link: string; title: string; text: string; yes: string; no: string };
  paid: { title: string; text: (shop: string) => string };
  reserved: { title: string; text: (shop: string) => string };
  canceled: Record<Exclude<CancelReason, DeclineReason>, Explanation>;
  notPaid: Explanation;
  /** What becomes of a reserved amount, by where it was reserved. */
  released: { card: string; wallet: string };
  receipt: {
    amount: string;
    method: string;
    payment: string;
    reserved: string;
    refunded: string;
    wallet: string;
  };
  leave: {
    back: (shop: string) => string;
    /** `{seconds}` is written by the script. */
    countdown: string;
    soon: string;
    stay: string;
  };
  unknownLink: Explanation;
  cookieLost: Explanation;
  closed: Explanation;
  trouble: Explanation & { look: string };
};

const az: PayTexts = {
  languageChoice: 'Dil seçimi',
  failed: (title) => `Xəta: ${title}`,
  documentTitle: (shop) => `Ödəniş – ${shop}`,
  toPay: 'Ödəniləcək məbləğ',
  order: (id) => `Sifariş ${id}`,
  secured: 'Ödəniş Tollgate ilə qorunur. Mağaza kartınızın nömrəsini görmür.',
  test: 'Sınaq rejimi: əsl pul köçürülmür.',
  time: {
    left: (minutes) =>
      minutes > 1 ? `Ödəniş üçün ${minutes} dəqiqə qalıb.` : 'Ödəniş üçün bir dəqiqə qalıb.',
    clock: 'Qalan vaxt: {time}',
    soon: 'Vaxt bitmək üzrədir.',
    more: 'Daha çox vaxt lazımdır',
    given: 'Vaxt artırıldı.',
    notGiven: 'Vaxt artırılmadı. Yenidən cəhd edin.',
  },
  card: {
    or: 'və ya kartla',
    fields: {
      number: {
        label: 'Kartın nömrəsi',
        missing: 'Kartın nömrəsini daxil edin.',
        invalid: 'Nömrəni yoxlayın: səhv rəqəm var və ya rəqəm çatmır.',
      },
      expiry: {
        label: 'Bitmə tarixi',
        hint: 'Ay və il, məsələn, 03/29',
        missing: 'Kartın bitmə tarixini daxil edin.',
        invalid: 'Ayı və ili yazın, məsələn, 03/29.',
        past: 'Bu kartın müddəti bitib. Tarixi yoxlayın və ya başqa kart götürün.',
      },
      csc: {
        label: 'Təhlükəsizlik kodu',
        hint: 'Kartın arxasındakı 3 rəqəm',
        missing: 'Təhlükəsizlik kodunu daxil edin.',
        invalid: 'Kodu yoxlayın: kartın arxasındakı 3 rəqəm, American Express kartında ön tərəfdəki 4 rəqəm.',
      },
      holder: {
        label: 'Kartın üzərindəki ad',
        missing: 'Kartın üzərindəki adı daxil edin.',
        invalid: 'Ad çox uzundur: ən çoxu 100 işarə.',
      },
    },
    cscOnFront: 'Kartın ön tərəfindəki 4 rəqəm',
    faults: { one: 'Bir xananı düzəltmək lazımdır', more: '{count} xananı düzəltmək lazımdır' },
    pay: (amount) => `${amount} ödə`,
    attemptsLeft: (count) => (count === 1 ? 'Bir cəhd qalıb.' : `${count} cəhd qalıb.`),
  },
  declined: {
    general_decline: {
      title: 'Bank ödənişi rədd etdi',
      text: 'Bank səbəbini bildirmədi. Pul çıxılmadı. Başqa kartla cəhd edin və ya bankınıza müraciət edin.',
    },
    insufficient_funds: {
      title: 'Kartda kifayət qədər vəsait yoxdur',
      text: 'Pul çıxılmadı. Kartın balansını artırın və ya başqa kartla ödəyin.',
    },
    card_expired: {
      title: 'Kartın müddəti bitib',
      text: 'Pul çıxılmadı. Tarixi yoxlayın və ya başqa kartla ödəyin.',
    },
    invalid_card_number: {
      title: 'Bank bu nömrəli kartı tanımadı',
      text: 'Pul çıxılmadı. Nömrəni yoxlayıb yenidən daxil edin.',
    },
    invalid_csc: {
      title: 'Təhlükəsizlik kodu düz gəlmədi',
      text: 'Pul çıxılmadı. Kartdakı kodu yoxlayıb yenidən daxil edin.',
    },
    '3d_secure_failed': {
      title: 'Bank ödənişi təsdiqləmədi',
      text: 'Pul çıxılmadı. Yenidən cəhd edin: bank sizdən kod istəyəcək.',
    },
    fraud_suspected: {
      title: 'Bank ödənişi təhlükəsizlik üçün dayandırdı',
      text: 'Pul çıxılmadı. Bu kartla bir daha cəhd etməyin: bankınıza zəng edin və ya başqa kartla ödəyin.',
    },
    issuer_unavailable: {
      title: 'Bankınız cavab vermir',
      text: 'Pul çıxılmadı. Bir neçə dəqiqədən sonra yenidən cəhd edin və ya başqa kartla ödəyin.',
    },
    payment_method_restricted: {
      title: 'Bu kart burada qəbul edilmir',
      text: 'Pul çıxılmadı. Başqa kartla ödəyin.',
    },
    rejected_by_payee: {
      title: 'Mağaza bu ödənişi qəbul etmədi',
      text: 'Pul çıxılmadı. Mağazaya müraciət edin.',
    },
  },
  failedAttempt: {
    title: 'Ödəniş baş tutmadı',
    text: 'Banka çatmadı, pul çıxılmadı. Yenidən cəhd edin.',
  },
  wallet: {
    pay: 'Pul kisəsi ilə ödə',
    about: 'Telefon nömrənizlə daxil olun və Tollgate pul kisənizdən ödəyin.',
    title: 'Pul kisəsi ilə ödəniş',
    whose: 'Kimin pul kisəsi',
    balance: 'Balans',
    afterwards: 'Ödənişdən sonra qalacaq',
    confirm: (amount) => `${amount} ödə`,
    tooLittle: {
      title: 'Pul kisəsində kifayət qədər vəsait yoxdur',
      text: 'Pul çıxılmadı.',
    },
    byCard: 'Kartla ödə',
    orCard: 'Kartla da ödəyə bilərsiniz.',
    anotherPerson: 'Başqa nömrə ilə daxil ol',
    back: 'Geri',
    notSignedIn: {
      title: 'Giriş tamamlanmadı',
      text: 'Pul çıxılmadı. Yenidən daxil olun.',
    },
    unavailable: {
      title: 'Pul kisəsi hazırda əlçatan deyil',
      text: 'Pul çıxılmadı. Bir azdan yenidən cəhd edin.',
    },
  },
  bank: {
    title: 'Bankınız təsdiq istəyir',
    text: 'Ödənişi bankınızın səhifəsində təsdiqləyin, sonra bura qayıdacaqsınız. Siz təsdiqləməyincə pul çıxılmır.',
    go: 'Bankın səhifəsinə keç',
    lapses: 'Təsdiqləməsəniz, cəhd 10 dəqiqəyə özü bitəcək və pul çıxılmayacaq.',
  },
  waiting: {
    title: 'Bankınızdan soruşuruq',
    text: 'Bank hələ cavab verməyib. Yenidən ödəməyin: nəticə məlum olan kimi burada görünəcək.',
    again: 'Səhifə özü yenilənir. Onu bağlasanız da, nəticə itməyəcək.',
    look: 'İndi yoxla',
  },
  giveUp: {
    link: 'Ödənişdən imtina et',
    title: 'Ödənişdən imtina edirsiniz?',
    text: 'Ödəniş ləğv olunacaq və pul çıxılmayacaq. Bu keçid bir daha işləməyəcək.',
    yes: 'Bəli, imtina et',
    no: 'Xeyr, ödənişə qayıt',
  },
  paid: { title: 'Ödənildi', text: (shop) => `Ödəniş qəbul edildi. Təşəkkür edirik! Alan: «${shop}».` },
  reserved: {
    title: 'Ödəniş təsdiqləndi',
    text: (shop) => `Məbləğ saxlanılıb. «${shop}» sifarişi təsdiqləyəndə çıxılacaq.`,
  },
  canceled: {
    expired_on_confirmation: {
      title: 'Ödəniş vaxtı bitib',
      text: 'Pul çıxılmadı. Mağazaya qayıdıb yenidən sifariş edin.',
    },
    canceled_by_merchant: {
      title: 'Mağaza ödənişi ləğv etdi',
      text: 'Pul çıxılmadı. Sualınız varsa, mağazaya müraciət edin.',
    },
    canceled_by_customer: { title: 'Ödəniş ləğv edildi', text: 'Ödənişdən imtina etdiniz. Pul çıxılmadı.' },
    attempts_exhausted: {
      title: 'Ödəniş baş tutmadı',
      text: 'Bütün cəhdlər istifadə olunub. Pul çıxılmadı. Mağazaya qayıdıb yenidən başlayın.',
    },
    expired_on_capture: {
      title: 'Ödəniş ləğv edildi',
      text: 'Mağaza sifarişi vaxtında təsdiqləmədi. Pul çıxılmadı.',
    },
  },
  notPaid: { title: 'Ödəniş baş tutmadı', text: 'Pul çıxılmadı. Mağazaya qayıdıb yenidən başlayın.' },
  released: {
    card: 'Saxlanılmış məbləğ azad edilir. Bankın bunu göstərməsi bir neçə gün çəkə bilər.',
    wallet: 'Saxlanılmış məbləğ pul kisəsinə qaytarılıb.',
  },
  receipt: {
    amount: 'Məbləğ',
    method: 'Ödəniş üsulu',
    payment: 'Ödənişin nömrəsi',
    reserved: 'Saxlanılmışdı',
    refunded: 'Qaytarılıb',
    wallet: 'Pul kisəsi',
  },
  leave: {
    back: (shop) => `«${shop}» mağazasına qayıt`,
    countdown: '{seconds} saniyəyə mağazaya qayıdacaqsınız.',
    soon: 'Bir neçə saniyəyə mağazaya qayıdacaqsınız.',
    stay: 'Bu səhifədə qal',
  },
  unknownLink: {
    title: 'Ödəniş tapılmadı',
    text: 'Bu keçid heç bir ödənişə aparmır. Mağazadakı keçidi yenidən açın.',
  },
  cookieLost: {
    title: 'Giriş saxlanılmadı',
    text: 'Brauzeriniz girişi yadda saxlamadı. Mağazadakı keçidi yenidən açın və ya kartla ödəyin.',
  },
  closed: {
    title: 'Mağaza hazırda ödəniş qəbul etmir',
    text: 'Bu ödəniş edilməyib və pul çıxılmayıb. Mağazaya müraciət edin.',
  },
  trouble: {
    title: 'Hazırda nəticəni deyə bilmirik',
    text: 'Yenidən ödəməyin: bir azdan bu səhifəyə baxın. Ödəniş alınıbsa, burada görünəcək.',
    look: 'Ödənişə bax',
  },
};

const en: PayTexts = {
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
    text: 'It will be canceled and no money will be taken. This link will not work again.',
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

const ru: PayTexts = {
  languageChoice: 'Выбор языка',
  failed: (title) => `Ошибка: ${title}`,
  documentTitle: (shop) => `Оплата – ${shop}`,
  toPay: 'К оплате',
  order: (id) => `Заказ ${id}`,
  secured: 'Платёж защищён Tollgate. Магазин не видит номер вашей карты.',
  test: 'Тестовый режим: настоящие деньги не списываются.',
  time: {
    left: (minutes) => `На оплату осталось минут: ${Math.max(1, minutes)}.`,
    clock: 'Осталось времени: {time}',
    soon: 'Время почти вышло.',
    more: 'Нужно больше времени',
    given: 'Время продлено.',
    notGiven: 'Не получилось продлить. Попробуйте ещё раз.',
  },
  card: {
    or: 'или картой',
    fields: {
      number: {
        label: 'Номер карты',
        missing: 'Введите номер карты.',
        invalid: 'Проверьте номер: неверная или пропущенная цифра.',
      },
      expiry: {
        label: 'Срок действия',
        hint: 'Месяц и год, например 03/29',
        missing: 'Введите срок действия карты.',
        invalid: 'Укажите месяц и год, например 03/29.',
        past: 'Срок действия карты истёк. Проверьте дату или возьмите другую карту.',
      },
      csc: {
        label: 'Код безопасности',
        hint: '3 цифры на обороте карты',
        missing: 'Введите код безопасности.',
        invalid: 'Проверьте код: 3 цифры на обороте, у American Express 4 цифры на лицевой стороне.',
      },
      holder: {
        label: 'Имя на карте',
        missing: 'Введите имя, указанное на карте.',
        invalid: 'Слишком длинное имя: не больше 100 знаков.',
      },
    },
    cscOnFront: '4 цифры на лицевой стороне карты',
    faults: { one: 'Исправьте одно поле', more: 'Исправьте поля: {count}' },
    pay: (amount) => `Оплатить ${amount}`,
    attemptsLeft: (count) => `Осталось попыток: ${count}.`,
  },
  declined: {
    general_decline: {
      title: 'Банк отклонил платёж',
      text: 'Причину банк не назвал. Деньги не списаны. Попробуйте другую карту или обратитесь в свой банк.',
    },
    insufficient_funds: {
      title: 'На карте недостаточно денег',
      text: 'Деньги не списаны. Пополните карту или оплатите другой.',
    },
    card_expired: {
      title: 'Срок действия карты истёк',
      text: 'Деньги не списаны. Проверьте дату или оплатите другой картой.',
    },
    invalid_card_number: {
      title: 'Банк не знает карты с таким номером',
      text: 'Деньги не списаны. Проверьте номер и введите его снова.',
    },
    invalid_csc: {
      title: 'Код безопасности не подошёл',
      text: 'Деньги не списаны. Проверьте код на карте и введите его снова.',
    },
    '3d_secure_failed': {
      title: 'Банк не подтвердил платёж',
      text: 'Деньги не списаны. Попробуйте ещё раз: банк спросит у вас код.',
    },
    fraud_suspected: {
      title: 'Банк остановил платёж ради безопасности',
      text: 'Деньги не списаны. Не пробуйте эту карту снова: позвоните в банк или оплатите другой картой.',
    },
    issuer_unavailable: {
      title: 'Ваш банк не отвечает',
      text: 'Деньги не списаны. Попробуйте через несколько минут или оплатите другой картой.',
    },
    payment_method_restricted: {
      title: 'Эта карта здесь не принимается',
      text: 'Деньги не списаны. Оплатите другой картой.',
    },
    rejected_by_payee: {
      title: 'Магазин не принял этот платёж',
      text: 'Деньги не списаны. Обратитесь в магазин.',
    },
  },
  failedAttempt: {
    title: 'Платёж не прошёл',
    text: 'Он не дошёл до банка, деньги не списаны. Попробуйте ещё раз.',
  },
  wallet: {
    pay: 'Оплатить из кошелька',
    about: 'Войдите по номеру телефона и оплатите из кошелька Tollgate.',
    title: 'Оплата из кошелька',
    whose: 'Чей кошелёк',
    balance: 'Баланс',
    afterwards: 'Останется после оплаты',
    confirm: (amount) => `Оплатить ${amount}`,
    tooLittle: {
      title: 'В кошельке недостаточно денег',
      text: 'Деньги не списаны.',
    },
    byCard: 'Оплатить картой',
    orCard: 'Можно оплатить и картой.',
    anotherPerson: 'Войти с другим номером',
    back: 'Назад',
    notSignedIn: {
      title: 'Вход не завершён',
      text: 'Деньги не списаны. Войдите ещё раз.',
    },
    unavailable: {
      title: 'Кошелёк сейчас недоступен',
      text: 'Деньги не списаны. Попробуйте чуть позже.',
    },
  },
  bank: {
    title: 'Банк просит подтверждения',
    text: 'Подтвердите платёж на странице банка, затем вы вернётесь сюда. До подтверждения деньги не списываются.',
    go: 'Перейти на страницу банка',
    lapses: 'Если не подтвердить, попытка сама закончится через 10 минут, деньги не спишутся.',
  },
  waiting: {
    title: 'Спрашиваем ваш банк',
    text: 'Банк ещё не ответил. Не платите повторно: результат появится здесь, как только станет известен.',
    again: 'Страница обновляется сама. Её можно закрыть: ничего не потеряется.',
    look: 'Проверить сейчас',
  },
  giveUp: {
    link: 'Отказаться от оплаты',
    title: 'Отказаться от оплаты?',
    text: 'Платёж будет отменён, деньги не спишутся. Эта ссылка больше не сработает.',
    yes: 'Да, отказаться',
    no: 'Нет, вернуться к оплате',
  },
  paid: { title: 'Оплачено', text: (shop) => `Платёж принят. Спасибо! Получатель: «${shop}».` },
  reserved: {
    title: 'Платёж подтверждён',
    text: (shop) => `Сумма зарезервирована. Она спишется, когда «${shop}» подтвердит заказ.`,
  },
  canceled: {
    expired_on_confirmation: {
      title: 'Время на оплату вышло',
      text: 'Деньги не списаны. Вернитесь в магазин и закажите снова.',
    },
    canceled_by_merchant: {
      title: 'Магазин отменил платёж',
      text: 'Деньги не списаны. О причине можно узнать в магазине.',
    },
    canceled_by_customer: { title: 'Платёж отменён', text: 'Вы отказались от оплаты. Деньги не списаны.' },
    attempts_exhausted: {
      title: 'Платёж не прошёл',
      text: 'Все попытки использованы. Деньги не списаны. Вернитесь в магазин и начните снова.',
    },
    expired_on_capture: {
      title: 'Платёж отменён',
      text: 'Магазин не подтвердил заказ вовремя. Деньги не списаны.',
    },
  },
  notPaid: {
    title: 'Платёж не прошёл',
    text: 'Деньги не списаны. Вернитесь в магазин и начните снова.',
  },
  released: {
    card: 'Зарезервированная сумма возвращается. Банк может показать это через несколько дней.',
    wallet: 'Зарезервированная сумма вернулась в кошелёк.',
  },
  receipt: {
    amount: 'Сумма',
    method: 'Способ оплаты',
    payment: 'Номер платежа',
    reserved: 'Было зарезервировано',
    refunded: 'Возвращено',
    wallet: 'Кошелёк',
  },
  leave: {
    back: (shop) => `Вернуться в «${shop}»`,
    countdown: 'Вы вернётесь в магазин через {seconds} с.',
    soon: 'Через несколько секунд вы вернётесь в магазин.',
    stay: 'Остаться на этой странице',
  },
  unknownLink: {
    title: 'Платёж не найден',
    text: 'По этой ссылке нет платежа. Откройте ссылку магазина ещё раз.',
  },
  cookieLost: {
    title: 'Вход не сохранился',
    text: 'Браузер его не запомнил. Откройте ссылку магазина ещё раз или оплатите картой.',
  },
  closed: {
    title: 'Магазин сейчас не принимает платежи',
    text: 'Этот платёж не проведён, деньги не списаны. Обратитесь в магазин.',
  },
  trouble: {
    title: 'Сейчас мы не можем сказать точно',
    text: 'Не платите повторно: посмотрите здесь чуть позже. Если платёж прошёл, это будет видно.',
    look: 'Посмотреть платёж',
  },
};

export const payTexts: Record<Language, PayTexts> = { az, en, ru };

/** Where cards are taken too, what has to do with the wallet alone says so. */
export function orByCard(told: Explanation, takesCards: boolean, texts: PayTexts): Explanation {
  return takesCards ? { ...told, text: `${told.text} ${texts.wallet.orCard}` } : told;
}
