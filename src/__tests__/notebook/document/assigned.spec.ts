import { assigned } from '../../../notebook/document/assigned';

describe('names that a private cell assigns', () => {
  it.each([
    ['a = b = f(c)', 'a b'],
    ['(a,\n [b, *c]) = d', 'a b c'],
    ['a.b = c\nd[e] = f', 'a d'],
    ['with open(p) as (a, b), x as c: pass', 'a b c'],
    ['import a.b, c as d\nfrom e import f as g, h', 'a d g h'],
    ['def a(b): pass\nclass C: pass\nasync def d(): pass', 'a C d'],
    ['a: int = 1\nb += 1\n[c := 2]', 'a b c'],
    ['for a, (b, c) in d: pass', 'a b c'],
    ['%%capture a\nb = !ls', 'a b'],
    ['größe = 1\nﬁ = 2', 'größe fi'],
    ['a = 1; b = 2', 'a b']
  ])('%j', (source, names) => {
    expect(assigned(source)).toEqual(expect.arrayContaining(names.split(' ')));
  });

  it('leaves alone what is only read', () => {
    expect(assigned('a = b + c\nprint(d)')).toEqual(['a']);
  });
});
