/** The passwords that are guessed first, of those that are long enough. Lower case. */
const common = new Set(
  `password password1 password12 password123 passw0rd p@ssw0rd p@ssword 12345678 123456789 1234567890
  0123456789 987654321 9876543210 11111111 111111111 00000000 88888888 12341234 12344321 11223344
  123123123 147258369 87654321 qwertyui qwertyuiop qwerty123 qwerty12 1q2w3e4r 1q2w3e4r5t 1qaz2wsx
  q1w2e3r4 zaq12wsx asdfghjk asdfghjkl zxcvbnm1 zxcvbnm123 abcd1234 abc12345 abcdefgh abcdefghi
  iloveyou iloveyou1 sunshine princess football baseball superman trustno1 starwars whatever
  computer internet welcome1 welcome123 letmein1 letmein123 changeme changeme1 administrator
  admin123 admin1234 administrator1 michael1 jennifer jessica1 nigeria1 nigeria123 lagos123 lagos1234
  airproof airproof1 airproof123 airquality secret123 testtest test1234 testing123 user1234
  dragon123 monkey123 master123 shadow123 football1 chelsea1 liverpool arsenal1 godisgood jesus123
  blessing blessing1 goodluck passpass`.split(/\s+/),
)

/** @param password in lower case */
export const isCommonPassword = (password: string): boolean =>
  common.has(password) || /^(.)\1+$/u.test(password)
