-- For statements to end with, after their CTEs head, of one row with the place 1, and shown, by place: both side by side.
SELECT head.*,
       shown.*
  FROM head
  FULL JOIN shown
 USING (place)
 ORDER BY shown.place
