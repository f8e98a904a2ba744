import type { PayTexts } from './pay-texts.ts';

export const az: PayTexts = {
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
    text: 'Ödəniş ləğv olunacaq və pul çıxılmayacaq. Bu keçidlə daha ödəmək olmayacaq.',
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
