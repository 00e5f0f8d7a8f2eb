-- Questions to begin with, each a comment with its query below; a test asks all of them on both databases.

-- Which rulesets are there, and how large are they?
SELECT ruleset, title, board, pieces, possibilities FROM v_rulesets
ORDER BY possibilities DESC, ruleset

-- Which pieces of all games go from d4 to f5 in one move?
SELECT DISTINCT ruleset, piece FROM v_moves WHERE source = 'd4' AND destination = 'f5'
ORDER BY ruleset, piece

-- Where can a knight of chess go from e4, and what must stand there?
SELECT destination, requires FROM v_moves
WHERE ruleset = 'chess' AND piece = 'C:N' AND source = 'e4' ORDER BY possibility

-- How mobile is each piece of chess: from how many squares, to how many in the mean and at most?
SELECT piece, count(*) AS squares, round(avg(reached), 2) AS mean, max(reached) AS most FROM
  (SELECT piece, source, count(DISTINCT destination) AS reached FROM v_moves
   WHERE ruleset = 'chess' AND NOT is_drop GROUP BY piece, source) AS of_square
GROUP BY piece ORDER BY mean DESC, piece

-- Which rules look at a rook that may still castle?
SELECT piece, source, destination, polarity, square FROM v_conditions
WHERE ruleset = 'chess' AND state = 'C:+R'

-- Which pieces can be dropped, and on how many squares?
SELECT ruleset, piece, count(DISTINCT destination) AS squares FROM v_moves
WHERE is_drop GROUP BY ruleset, piece ORDER BY ruleset, squares DESC, piece

-- What becomes of pieces that promote?
SELECT piece, becomes, count(*) AS ways FROM v_effects
WHERE ruleset = 'chess' AND kind = 'square' AND square = destination AND becomes <> piece
GROUP BY piece, becomes ORDER BY piece, becomes

-- Which pieces have no rule that captures? Those of some draughts only mark what is taken off later.
SELECT ruleset, piece, words FROM v_pieces
WHERE displacing + elsewhere + by_another + either = 0 ORDER BY ruleset, piece

-- Which pieces are called cannon or knight, in all games, and how does each move?
SELECT ruleset, piece, movement, words FROM v_pieces WHERE name IN ('cannon', 'knight') ORDER BY ruleset, ordinal

-- Which movements have the most names?
SELECT movement, count(DISTINCT name) AS names, min(name) AS one, max(name) AS another, count(DISTINCT ruleset) AS games
FROM v_pieces WHERE movement IS NOT NULL GROUP BY movement HAVING count(DISTINCT name) > 1
ORDER BY names DESC, games DESC, movement LIMIT 20

-- Which games have drops, and what else have they?
SELECT ruleset, drops, hoppers, unequal_sides, mandatory_capture, ends_by_line FROM v_concepts
WHERE drops > 0 ORDER BY ruleset

-- How many games are there on boards of each size, and how many riders and leapers have they at most?
SELECT board_squares, count(*) AS games, max(riders) AS riders, max(leapers) AS leapers FROM v_concepts
GROUP BY board_squares ORDER BY games DESC, board_squares

-- Which captures of chess are on another square than the piece goes to?
SELECT piece, source, destination, capture FROM v_moves
WHERE ruleset = 'chess' AND capture <> 'displacing' ORDER BY piece, possibility

-- Which pieces only ever move forward?
SELECT ruleset, piece, min(abs(dy)) AS least, max(abs(dy)) AS most FROM v_moves WHERE NOT is_drop
GROUP BY ruleset, piece, side HAVING min(CASE side WHEN 'first' THEN dy ELSE -dy END) > 0 ORDER BY ruleset, piece

-- How many files, ranks and layers do the boards have?
SELECT ruleset, count(*) AS squares, count(DISTINCT file) AS files, count(DISTINCT rank) AS ranks,
  count(DISTINCT layer) AS layers FROM v_squares GROUP BY ruleset ORDER BY squares DESC, ruleset

-- Which possibilities have the most conditions?
SELECT ruleset, piece, source, destination, count(*) AS conditions FROM v_conditions
GROUP BY ruleset, piece, source, destination, possibility
ORDER BY conditions DESC, ruleset, piece, possibility LIMIT 10

-- Which moves change more than their two squares?
SELECT ruleset, piece, source, destination, count(*) AS changed FROM v_effects WHERE kind = 'square'
GROUP BY ruleset, piece, source, destination, possibility HAVING count(*) > 2
ORDER BY ruleset, piece, possibility LIMIT 20

-- Which pieces are the same in several games, rule for rule?
SELECT piece, count(*) AS games, min(ruleset) AS one, max(ruleset) AS another FROM v_pieces
GROUP BY digest, piece HAVING count(*) > 1 ORDER BY games DESC, piece LIMIT 20

-- Which ways to move are found in most games, whatever the pieces are called?
SELECT count(DISTINCT ruleset) AS games, count(*) AS pieces, count(DISTINCT letter) AS letters, min(words) AS words
FROM v_pieces WHERE movement IS NOT NULL GROUP BY movement ORDER BY games DESC, pieces DESC, movement LIMIT 20

-- Which games have most ways to move in common with chess?
SELECT other.ruleset, count(DISTINCT other.movement) AS ways FROM v_pieces AS one
JOIN v_pieces AS other ON other.movement = one.movement AND other.ruleset <> one.ruleset
WHERE one.ruleset = 'chess' GROUP BY other.ruleset ORDER BY ways DESC, other.ruleset LIMIT 20

-- Which pieces are bound to the squares of one colour, and how far do they get?
SELECT ruleset, piece, reach, words FROM v_pieces WHERE colours = 'bound' ORDER BY ruleset, piece

-- Which pieces change squares in most ways?
SELECT ruleset, piece, count(*) AS ways FROM
  (SELECT DISTINCT ruleset, piece, square, becomes FROM v_effects WHERE kind = 'square') AS each_way
GROUP BY ruleset, piece ORDER BY ways DESC, ruleset, piece LIMIT 20

-- How far does a piece get in two moves on an empty board? (given with --param piece=C:N --param source=a1)
SELECT DISTINCT second.destination FROM v_moves AS first
JOIN v_moves AS second ON second.piece_id = first.piece_id AND second.source = first.destination
WHERE first.ruleset = 'chess' AND second.ruleset = 'chess'
  AND first.piece = :piece AND first.source = :source ORDER BY 1

-- Which squares can a piece ever reach? (given with --param piece=C:B --param source=c1)
WITH RECURSIVE step(source, destination) AS (
  SELECT DISTINCT source, destination FROM v_moves WHERE ruleset = 'chess' AND piece = :piece),
reached(square) AS (
  SELECT destination FROM step WHERE source = :source
  UNION SELECT destination FROM step JOIN reached ON source = square)
SELECT square FROM reached ORDER BY square

-- What has happened to each ruleset, and why?
SELECT ruleset, revision, created_at, author, message, tags FROM v_history ORDER BY created_at DESC, ruleset
