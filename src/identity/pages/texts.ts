import { type Language, productName } from '../../platform/languages.ts';
import type { Explanation } from '../../platform/page-parts.tsx';

export const messageKinds = [
  'unknown_client',
  'bad_redirect',
  'bad_request',
  'page_expired',
  'other_browser',
  'account_inactive',
  'registration_closed',
  'too_many_requests',
  'sms_unavailable',
  'fault',
] as const;
export type MessageKind = (typeof messageKinds)[number];

export type Texts = {
  languageChoice: string;
  tagline: string;
  failed: (title: string) => string;
  requestId: string;
  phone: {
    title: string;
    documentTitle: (client: string) => string;
    lead: (client: string) => string;
    label: string;
    example: string;
    smsNotice: string;
    submit: string;
    cancel: string;
    missing: Explanation;
    malformed: Explanation;
    countryNotServed: Explanation;
  };
  sending: {
    tooManyCodes: (waitSeconds: number) => Explanation;
    unavailable: Explanation;
  };
  code: {
    title: string;
    sentTo: (phone: string) => string;
    validFor: (minutes: number) => string;
    label: string;
    sixDigits: string;
    automatic: string;
    submit: string;
    keepSecret: string;
    notArrived: string;
    resendIn: (seconds: number) => string;
    /** `{time}` stands for a clock such as 0:42; the script of the page writes it. */
    resendCountdown: string;
    resendReady: string;
    resend: string;
    anotherNumber: string;
    malformed: Explanation;
    wrong: (attemptsLeft: number) => Explanation;
    expired: Explanation;
    tooManyAttempts: (waitSeconds: number) => Explanation;
    alreadyOnItsWay: string;
    sentAgain: string;
  };
  consent: {
    title: string;
    documentTitle: (client: string) => string;
    lead: (client: string) => string;
    account: (phone: string) => string;
    scopes: Record<'openid' | 'profile' | 'phone', { name: string; about: string }>;
    documents: { name: string; tag: string; list: [string, string]; about: string };
    lasting: (hours: number) => string;
    remembered: string;
    denied: (client: string) => string;
    allow: string;
    deny: string;
  };
  messages: Record<MessageKind, Explanation>;
  tryAgainIn: (waitSeconds: number) => string;
  actions: {
    startAgain: string;
    anotherNumber: string;
    backTo: (client: string) => string;
  };
  logout: {
    title: string;
    text: string;
    account: (phone: string) => string;
    submit: string;
    stay: string;
    doneTitle: string;
    doneText: string;
  };
};

const az: Texts = {
  languageChoice: 'Dil seçimi',
  tagline: 'Bir nömrə ilə bütün xidmətlərinizə giriş',
  failed: (title) => `Xəta: ${title}`,
  requestId: 'Müraciətin nömrəsi',
  phone: {
    title: 'Daxil olun',
    documentTitle: (client) => `«${client}» xidmətinə giriş`,
    lead: (client) => `«${client}» xidmətinə daxil olursunuz.`,
    label: 'Telefon nömrəsi',
    example: 'Məsələn, +994 50 123 45 67.',
    smsNotice: 'Bu nömrəyə SMS ilə 6 rəqəmli kod göndərəcəyik.',
    submit: 'SMS ilə kod al',
    cancel: 'Ləğv et və qayıt',
    missing: { title: 'Nömrə daxil edilməyib', text: 'Telefon nömrənizi daxil edin.' },
    malformed: {
      title: 'Nömrəni yoxlayın',
      text: 'Bu, telefon nömrəsinə oxşamır. Nömrəni ölkə kodu ilə yazın.',
    },
    countryNotServed: {
      title: 'Bu ölkənin nömrələri qəbul edilmir',
      text: 'Başqa nömrə daxil edin.',
    },
  },
  sending: {
    tooManyCodes: (waitSeconds) => ({
      title: 'Kod həddən artıq çox istənilib',
      text: `Yeni kodu ${azAfter(waitSeconds)} istəyə bilərsiniz.`,
    }),
    unavailable: {
      title: 'Hazırda SMS göndərmək mümkün deyil',
      text: 'Bir neçə dəqiqədən sonra yenidən cəhd edin.',
    },
  },
  code: {
    title: 'Kodu daxil edin',
    sentTo: (phone) => `${phone} nömrəsinə SMS ilə 6 rəqəmli kod göndərdik.`,
    validFor: (minutes) => `Kod ${minutes} dəqiqə qüvvədədir.`,
    label: 'SMS ilə gələn kod',
    sixDigits: '6 rəqəm',
    automatic: '6 rəqəm daxil edilən kimi avtomatik davam edəcəyik.',
    submit: 'Daxil ol',
    keepSecret: 'Bu kodu heç kimə deməyin. Əməkdaşlarımız onu heç vaxt soruşmur.',
    notArrived: 'Kod gəlmədi?',
    resendIn: (seconds) => `Yeni kodu ${azAfter(seconds)} istəyə bilərsiniz.`,
    resendCountdown: 'Yeni kod üçün qalan vaxt: {time}',
    resendReady: 'İndi yeni kod istəyə bilərsiniz.',
    resend: 'Yeni kod göndər',
    anotherNumber: 'Başqa nömrə ilə daxil ol',
    malformed: {
      title: 'Kod tam deyil',
      text: 'SMS-dəki 6 rəqəmin hamısını daxil edin.',
    },
    wrong: (attemptsLeft) => ({
      title: 'Kod düzgün deyil',
      text:
        attemptsLeft > 0
          ? `SMS-i yoxlayıb yenidən cəhd edin. ${attemptsLeft} cəhdiniz qalıb.`
          : 'Cəhdləriniz bitdi. Aşağıdan yeni kod istəyin.',
    }),
    expired: {
      title: 'Kod artıq keçərli deyil',
      text: 'Aşağıdan yeni kod istəyin.',
    },
    tooManyAttempts: (waitSeconds) => ({
      title: 'Həddən artıq çox cəhd edilib',
      text: `Təhlükəsizliyiniz üçün ${azAfter(waitSeconds)} yenidən cəhd edin.`,
    }),
    alreadyOnItsWay: 'Kod artıq göndərilib. Gəlməsi bir dəqiqəyə qədər çəkə bilər.',
    sentAgain: 'Yeni kod göndərdik. Əvvəlki kod artıq keçərli deyil.',
  },
  consent: {
    title: 'Məlumatlarınızı paylaşmağa razısınızmı?',
    documentTitle: (client) => `«${client}» üçün razılıq`,
    lead: (client) => `«${client}» xidməti bu məlumatları istəyir:`,
    account: (phone) => `Hesab: ${phone}`,
    scopes: {
      openid: { name: 'Hesabınızın identifikatoru', about: 'Xidmət sizi növbəti dəfə tanısın deyə.' },
      profile: {
        name: 'Profiliniz',
        about: 'Ad, soyad, ata adı, doğum tarixi, cins, rezidentlik, profil şəkli və təsdiq statusu.',
      },
      phone: { name: 'Telefon nömrəniz', about: 'Daxil olduğunuz nömrə.' },
    },
    documents: {
      name: 'Şəxsiyyət sənədləri',
      tag: 'Həssas məlumat',
      list: ['Fərdi identifikasiya nömrəsi (FİN)', 'Şəxsiyyət vəsiqəsinin nömrəsi'],
      about: 'Yalnız bu xidmətə etibar edirsinizsə, icazə verin.',
    },
    lasting: (hours) =>
      `Xidmət bu məlumatları yalnız siz daxil olduğunuz müddətdə, ən çoxu ${hours} saat oxuya bilər.`,
    remembered: 'Seçiminizi yadda saxlayırıq və yalnız əlavə məlumat istənildikdə yenidən soruşacağıq.',
    denied: (client) => `İmtina etsəniz, heç nə paylaşılmayacaq və siz «${client}» xidmətinə qayıdacaqsınız.`,
    allow: 'İcazə ver',
    deny: 'İmtina et',
  },
  messages: {
    unknown_client: {
      title: 'Bu xidmət tanınmır',
      text: 'Sizi buraya göndərən xidmət bizdə qeydiyyatda deyil. Xidmətin dəstək komandasına müraciət edin.',
    },
    bad_redirect: {
      title: 'Giriş dayandırıldı',
      text: 'Xidmətin göstərdiyi qayıdış ünvanı bizdə qeydiyyatda deyil. Məlumatlarınızı qorumaq üçün sizi oraya yönləndirmirik.',
    },
    bad_request: {
      title: 'Keçid düzgün deyil',
      text: 'Sorğu tam deyil və ya zədələnib. İstifadə etdiyiniz xidmətə qayıdıb yenidən cəhd edin.',
    },
    page_expired: {
      title: 'Səhifənin vaxtı bitib',
      text: 'Bu səhifə çox uzun müddət açıq qalıb. Girişə yenidən başlayın.',
    },
    other_browser: {
      title: 'Giriş başqa brauzerdə başlayıb',
      text: 'Girişi başladığınız brauzerdə davam edin və ya burada yenidən başlayın.',
    },
    account_inactive: {
      title: 'Hesab aktiv deyil',
      text: 'Bu hesabla hazırda daxil olmaq mümkün deyil. Kömək üçün dəstək xidmətinə müraciət edin.',
    },
    registration_closed: {
      title: 'Bu nömrə ilə daxil olmaq mümkün deyil',
      text: 'Hazırda yeni hesablar açılmır. Hesabınız varsa, onun nömrəsi ilə daxil olun.',
    },
    too_many_requests: {
      title: 'Həddən artıq çox sorğu',
      text: 'Təhlükəsizlik üçün bir qədər gözləməyinizi xahiş edirik.',
    },
    sms_unavailable: {
      title: 'Hazırda SMS göndərmək mümkün deyil',
      text: 'Problemi aradan qaldırırıq. Bir neçə dəqiqədən sonra yenidən cəhd edin.',
    },
    fault: {
      title: 'Xəta baş verdi',
      text: 'Problem bizim tərəfimizdədir. Bir azdan yenidən cəhd edin.',
    },
  },
  tryAgainIn: (waitSeconds) => `Zəhmət olmasa, ${azAfter(waitSeconds)} yenidən cəhd edin.`,
  actions: {
    startAgain: 'Yenidən başla',
    anotherNumber: 'Başqa nömrə ilə daxil ol',
    backTo: (client) => `«${client}» xidmətinə qayıt`,
  },
  logout: {
    title: 'Hesabdan çıxmaq istəyirsinizmi?',
    text: `Bu brauzerdə ${productName} ilə daxil olduğunuz bütün xidmətlərdən çıxacaqsınız.`,
    account: (phone) => `Hesab: ${phone}`,
    submit: 'Hesabdan çıx',
    stay: 'Hesabda qal',
    doneTitle: 'Hesabdan çıxdınız',
    doneText: 'Bu səhifəni bağlaya bilərsiniz.',
  },
};

const en: Texts = {
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
    notArrived: 'Has no code arrived?',
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

const ru: Texts = {
  languageChoice: 'Выбор языка',
  tagline: 'Один номер для входа во все ваши сервисы',
  failed: (title) => `Ошибка: ${title}`,
  requestId: 'Номер обращения',
  phone: {
    title: 'Вход',
    documentTitle: (client) => `Вход в сервис «${client}»`,
    lead: (client) => `Вы входите в сервис «${client}».`,
    label: 'Номер телефона',
    example: 'Например, +994 50 123 45 67.',
    smsNotice: 'Мы отправим на этот номер SMS с 6-значным кодом.',
    submit: 'Получить код по SMS',
    cancel: 'Отменить и вернуться',
    missing: { title: 'Номер не указан', text: 'Введите номер телефона.' },
    malformed: {
      title: 'Проверьте номер',
      text: 'Это не похоже на номер телефона. Укажите его с кодом страны.',
    },
    countryNotServed: {
      title: 'Номера этой страны не принимаются',
      text: 'Введите другой номер.',
    },
  },
  sending: {
    tooManyCodes: (waitSeconds) => ({
      title: 'Код запрашивали слишком часто',
      text: `Новый код можно будет запросить через ${ruDuration(waitSeconds)}.`,
    }),
    unavailable: {
      title: 'Сейчас не получается отправить SMS',
      text: 'Пожалуйста, попробуйте ещё раз через несколько минут.',
    },
  },
  code: {
    title: 'Введите код',
    sentTo: (phone) => `Мы отправили SMS с 6-значным кодом на номер ${phone}.`,
    validFor: (minutes) => `Код действует ${ruCount(minutes, ruUnits.minute)}.`,
    label: 'Код из SMS',
    sixDigits: '6 цифр',
    automatic: 'Продолжим автоматически, как только вы введёте все 6 цифр.',
    submit: 'Войти',
    keepSecret: 'Никому не сообщайте этот код. Наши сотрудники никогда его не спрашивают.',
    notArrived: 'Код не пришёл?',
    resendIn: (seconds) => `Новый код можно будет запросить через ${ruDuration(seconds)}.`,
    resendCountdown: 'Новый код можно будет запросить через {time}',
    resendReady: 'Теперь можно запросить новый код.',
    resend: 'Отправить новый код',
    anotherNumber: 'Войти с другим номером',
    malformed: {
      title: 'Код введён не полностью',
      text: 'Введите все 6 цифр из SMS.',
    },
    wrong: (attemptsLeft) => ({
      title: 'Неверный код',
      text:
        attemptsLeft > 0
          ? `Проверьте SMS и попробуйте ещё раз. ${ruAttempts(attemptsLeft)}.`
          : 'Попыток больше не осталось. Запросите новый код ниже.',
    }),
    expired: {
      title: 'Код больше не действует',
      text: 'Запросите новый код ниже.',
    },
    tooManyAttempts: (waitSeconds) => ({
      title: 'Слишком много попыток',
      text: `Для вашей безопасности нужно подождать. Попробуйте ещё раз через ${ruDuration(waitSeconds)}.`,
    }),
    alreadyOnItsWay: 'Код уже отправлен. Доставка может занять до минуты.',
    sentAgain: 'Мы отправили новый код. Прежний код больше не действует.',
  },
  consent: {
    title: 'Поделиться данными?',
    documentTitle: (client) => `Согласие для «${client}»`,
    lead: (client) => `Сервис «${client}» запрашивает эти данные:`,
    account: (phone) => `Аккаунт: ${phone}`,
    scopes: {
      openid: {
        name: 'Идентификатор вашего аккаунта',
        about: 'Чтобы сервис узнал вас в следующий раз.',
      },
      profile: {
        name: 'Ваш профиль',
        about:
          'Имя, фамилия, отчество, дата рождения, пол, резидентство, фото профиля и статус подтверждения.',
      },
      phone: { name: 'Ваш номер телефона', about: 'Номер, с которым вы входите.' },
    },
    documents: {
      name: 'Документы, удостоверяющие личность',
      tag: 'Особо важные данные',
      list: ['Персональный идентификационный номер (FİN)', 'Номер удостоверения личности'],
      about: 'Разрешайте, только если доверяете этому сервису.',
    },
    lasting: (hours) =>
      `Сервис сможет читать эти данные, только пока вы в аккаунте, не дольше ${ruCount(hours, ruUnits.hourGenitive)}.`,
    remembered: 'Мы запомним ваш выбор и спросим снова, только если понадобятся другие данные.',
    denied: (client) => `Если вы откажете, данные не будут переданы, и вы вернётесь в «${client}».`,
    allow: 'Разрешить',
    deny: 'Отказать',
  },
  messages: {
    unknown_client: {
      title: 'Этот сервис нам неизвестен',
      text: 'Сервис, который направил вас сюда, у нас не зарегистрирован. Обратитесь в его службу поддержки.',
    },
    bad_redirect: {
      title: 'Вход остановлен',
      text: 'Адрес возврата, указанный сервисом, у нас не зарегистрирован. Чтобы защитить ваши данные, мы не перенаправляем вас туда.',
    },
    bad_request: {
      title: 'Ссылка не работает',
      text: 'Запрос неполный или повреждён. Вернитесь в сервис, которым вы пользовались, и попробуйте ещё раз.',
    },
    page_expired: {
      title: 'Время страницы истекло',
      text: 'Она была открыта слишком долго. Пожалуйста, начните вход заново.',
    },
    other_browser: {
      title: 'Вход начат в другом браузере',
      text: 'Продолжите в том браузере, где начали, или начните заново здесь.',
    },
    account_inactive: {
      title: 'Аккаунт неактивен',
      text: 'Сейчас войти с этим аккаунтом нельзя. За помощью обратитесь в службу поддержки.',
    },
    registration_closed: {
      title: 'С этим номером войти нельзя',
      text: 'Сейчас новые аккаунты не открываются. Если у вас есть аккаунт, войдите с его номером.',
    },
    too_many_requests: {
      title: 'Слишком много запросов',
      text: 'Для общей безопасности просим вас немного подождать.',
    },
    sms_unavailable: {
      title: 'Сейчас не получается отправить SMS',
      text: 'Мы уже разбираемся. Пожалуйста, попробуйте ещё раз через несколько минут.',
    },
    fault: {
      title: 'Что-то пошло не так',
      text: 'Проблема на нашей стороне. Пожалуйста, попробуйте ещё раз чуть позже.',
    },
  },
  tryAgainIn: (waitSeconds) => `Пожалуйста, попробуйте ещё раз через ${ruDuration(waitSeconds)}.`,
  actions: {
    startAgain: 'Начать заново',
    anotherNumber: 'Войти с другим номером',
    backTo: (client) => `Вернуться в «${client}»`,
  },
  logout: {
    title: 'Выйти из аккаунта?',
    text: `Вы выйдете из всех сервисов, в которые вошли через ${productName} в этом браузере.`,
    account: (phone) => `Аккаунт: ${phone}`,
    submit: 'Выйти',
    stay: 'Остаться в аккаунте',
    doneTitle: 'Вы вышли из аккаунта',
    doneText: 'Эту страницу можно закрыть.',
  },
};

export const catalogues: Record<Language, Texts> = { az, en, ru };

/** Seconds as a person would say them, never shorter than they are. */
function inWords(seconds: number): { count: number; unit: 'second' | 'minute' | 'hour' } {
  const whole = Math.max(1, Math.ceil(seconds));
  if (whole < 120) return { count: whole, unit: 'second' };
  if (whole < 7200) return { count: Math.ceil(whole / 60), unit: 'minute' };
  return { count: Math.ceil(whole / 3600), unit: 'hour' };
}

/** "5 dəqiqədən sonra": nouns stay singular after a number, and the ending follows the vowels of the noun. */
function azAfter(seconds: number): string {
  const { count, unit } = inWords(seconds);
  const nouns = { second: 'saniyədən', minute: 'dəqiqədən', hour: 'saatdan' };
  return `${count} ${nouns[unit]} sonra`;
}

function enDuration(seconds: number): string {
  const { count, unit } = inWords(seconds);
  return enCount(count, unit);
}

function enCount(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

type RussianForms = Record<'one' | 'few' | 'many', string>;
const ruUnits = {
  second: { one: 'секунду', few: 'секунды', many: 'секунд' },
  minute: { one: 'минуту', few: 'минуты', many: 'минут' },
  hour: { one: 'час', few: 'часа', many: 'часов' },
  hourGenitive: { one: 'часа', few: 'часов', many: 'часов' },
  attempt: { one: 'попытка', few: 'попытки', many: 'попыток' },
} satisfies Record<string, RussianForms>;
const ruRules = new Intl.PluralRules('ru');

function ruDuration(seconds: number): string {
  const { count, unit } = inWords(seconds);
  return ruCount(count, ruUnits[unit]);
}

function ruCount(count: number, forms: RussianForms): string {
  return `${count} ${forms[ruForm(count)]}`;
}

function ruAttempts(count: number): string {
  return `${ruForm(count) === 'one' ? 'Осталась' : 'Осталось'} ${ruCount(count, ruUnits.attempt)}`;
}

function ruForm(count: number): keyof RussianForms {
  const form = ruRules.select(count);
  return form === 'one' || form === 'few' ? form : 'many';
}
