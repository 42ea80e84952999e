import type { MailTexts } from '../en/mail.ts'

const once = 'Il ne sert qu’une fois, dans les 24 heures.'
const notYou =
  'Si ce n’était pas vous, ignorez cet e-mail : rien ne se passe tant que le lien n’est pas utilisé.'

export const mail: MailTexts = {
  confirm: {
    subject: 'Confirmez votre compte',
    greeting: 'Bonjour,',
    body: `Ouvrez ce lien pour confirmer votre compte. ${once}`,
    action: 'Confirmer votre compte',
    after: notYou,
  },
  alreadyRegistered: {
    subject: 'Vous avez déjà un compte',
    body: 'Cette adresse a été saisie pour créer un compte, sans doute par vous. Elle en a déjà un : il n’y a rien à confirmer.',
    action: 'Se connecter',
    forgot: (link) => `Mot de passe oublié ? ${link}`,
    after: 'Si ce n’était pas vous, ignorez cet e-mail.',
  },
  reset: {
    subject: 'Réinitialisez votre mot de passe',
    body: `Un nouveau mot de passe a été demandé, sans doute par vous. Ouvrez ce lien pour en choisir un. ${once}`,
    action: 'Choisir un mot de passe',
    after: notYou,
  },
  confirmNewEmail: {
    subject: 'Confirmez votre nouvelle adresse e-mail',
    body: (former) =>
      `Le compte de ${former} demande à utiliser cette adresse. Si c’est votre compte, ouvrez ce lien dans le navigateur où vous êtes connecté. ${once}`,
    action: 'Confirmer l’adresse',
    after: notYou,
  },
  emailChanged: {
    subject: 'Votre adresse e-mail a été changée',
    body: (email) =>
      `L’adresse e-mail de votre compte est maintenant ${email}. Celle-ci ne permet plus de se connecter.`,
    after: (operator) => `Si ce n’était pas vous, prévenez tout de suite ${operator}.`,
  },
  passwordChanged: {
    subject: 'Votre mot de passe a été changé',
    body: (time) => `Le mot de passe de votre compte a été changé le ${time}.`,
    action: 'Réinitialiser votre mot de passe',
    after:
      'Si ce n’était pas vous, réinitialisez votre mot de passe maintenant. Tous les appareils seront déconnectés.',
  },
  keyExpiring: {
    subject: (days) =>
      days === '1' ? 'Une clé d’API expire dans 1 jour' : `Une clé d’API expire dans ${days} jours`,
    body: (name, hint, time) =>
      `La clé « ${name} » (${hint}…) cessera de fonctionner le ${time}. Créez-en une nouvelle à temps ; les deux fonctionnent jusque-là.`,
    action: 'Clés d’API',
  },
  quotaMostly: {
    subject: '80 % des requêtes du jour sont utilisées',
    body: (used, limit, day, time) =>
      `Votre compte a utilisé ${used} des ${limit} requêtes du ${day} (UTC). Le compteur repart le ${time}.`,
    action: 'Utilisation',
  },
  quotaUsed: {
    subject: 'Les requêtes du jour sont épuisées',
    body: (limit, day, time) =>
      `Votre compte a utilisé les ${limit} requêtes du ${day} (UTC). Les suivantes reçoivent la réponse 429 jusqu’au ${time}.`,
    action: 'Utilisation',
  },
  webhookFailing: {
    subject: 'Un webhook échoue sans cesse',
    body: (webhook, url, failures, time) =>
      `Le webhook ${webhook} vers ${url} a échoué ${failures} fois depuis le ${time}. Nous continuons d’essayer.`,
    action: 'Voir ses envois',
  },
  webhookDisabled: {
    subject: 'Un webhook a été désactivé',
    body: (webhook, url, time, reason, detail) =>
      `Le webhook ${webhook} vers ${url} a été désactivé le ${time} (${reason}) : ${detail}`,
    action: 'Voir ses envois',
    after: 'Il ne reçoit plus d’événements tant que vous ne l’avez pas réactivé.',
  },
  operatorOf: (dashboard) => `l’opérateur de ${dashboard}`,
}
