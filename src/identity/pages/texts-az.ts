import { productName } from '../../platform/languages.ts';
import type { Texts } from './texts.ts';
import { inWords } from './time-in-words.ts';

export const az: Texts = {
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

/** "5 dəqiqədən sonra": nouns stay singular after a number, and the ending follows the vowels of the noun. */
function azAfter(seconds: number): string {
  const { count, unit } = inWords(seconds);
  const nouns = { second: 'saniyədən', minute: 'dəqiqədən', hour: 'saatdan' };
  return `${count} ${nouns[unit]} sonra`;
}
